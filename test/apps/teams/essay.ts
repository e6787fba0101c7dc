import { entrypoint, getPreviousState, interrupt, MemorySaver, task } from '@langchain/langgraph';

interface Essay {
  essay: string;
  verdict: string;
  written: number;
}

let calls = 0;
const writeEssay = task('writeEssay', async (topic: string) => {
  calls += 1;
  return `An essay about ${topic}, written in call ${calls}`;
});

export const workflow = entrypoint(
  { checkpointer: new MemorySaver(), name: 'essay' },
  async ({ topic }: { topic: string }) => {
    const written = (getPreviousState<Essay>()?.written ?? 0) + 1;
    const essay = await writeEssay(topic);
    const verdict: string = interrupt({ essay, action: 'Please approve/reject the essay' });
    return { essay, verdict, written };
  },
);
