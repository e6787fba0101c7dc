import { Command, END, interrupt, START, StateGraph } from '@langchain/langgraph';
import { z } from 'zod';

const State = z.object({
  amount: z.number().default(0).describe('Refund in dollars'),
  draft: z.string().default(''),
  decision: z.enum(['approved', 'rejected', 'open']).default('open'),
  outcome: z.string().default(''),
});

/** The run stops at `interrupt` and holds no compute until a client resumes the thread, be it months later. */
function review({ draft }: z.infer<typeof State>): Command {
  const answer: unknown = interrupt({ question: 'Approve this refund?', draft });
  const approved = answer === true || answer === 'approve' || answer === 'approved';
  return new Command({ goto: approved ? 'pay' : 'drop', update: { decision: approved ? 'approved' : 'rejected' } });
}

export const graph = new StateGraph(State)
  .addNode('prepare', ({ amount }) => ({ draft: `Refund of $${amount}` }))
  .addNode('review', review, { ends: ['pay', 'drop'] })
  .addNode('pay', ({ amount }) => ({ outcome: `paid $${amount}` }))
  .addNode('drop', () => ({ outcome: 'dropped' }))
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'review')
  .addEdge('pay', END)
  .addEdge('drop', END)
  .compile({ name: 'approval' });
