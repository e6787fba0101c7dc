import { AIMessage, type BaseMessage, ToolMessage } from '@langchain/core/messages';
import type { RunnableConfig } from '@langchain/core/runnables';
import { FakeListChatModel } from '@langchain/core/utils/testing';
import { Annotation, END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph';
import { type RemoveUIMessage, type UIMessage, uiMessageReducer } from '@langchain/langgraph-sdk/react-ui';
import { typedUi } from '@langchain/langgraph-sdk/react-ui/server';

type Ui = UIMessage | RemoveUIMessage;

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  ui: Annotation<UIMessage[], Ui | Ui[]>({ reducer: uiMessageReducer, default: () => [] }),
});

/** A model that says something, a letter a token. */
const speak = (text: string, config: RunnableConfig, messages: BaseMessage[], letterMs = 1): Promise<BaseMessage> =>
  new FakeListChatModel({ responses: [text], sleep: letterMs }).invoke(messages, config);

/** Tools by the beginning of the user's message: `weather Oslo` and `mail Ada` call them. */
const TOOLS: Record<string, { name: string; argument: string }> = {
  weather: { name: 'get_weather', argument: 'city' },
  mail: { name: 'send_mail', argument: 'to' },
};

let calls = 0;

/** Calls a tool, repeats what a tool said, counts (`count 50`), or repeats the user's words. */
async function model({ messages }: typeof State.State, config: RunnableConfig): Promise<typeof State.Update> {
  const last = messages.at(-1)!;
  if (last.getType() === 'tool') {
    const answer = await speak(`The tool says: ${last.text}`, config, messages);
    const city = /^Sunny in (.+)$/.exec(last.text)?.[1];
    const ui = typedUi<{ weather: { city: string } }>(config);
    // Newer clients look for the message under `id`, older ones under `message_id`.
    const metadata = { message_id: answer.id };
    if (city !== undefined) ui.push({ name: 'weather', props: { city }, metadata }, { message: answer });
    return { messages: [answer] };
  }
  const [verb, rest] = last.text.split(/ (.*)/);
  const tool = TOOLS[verb];
  if (tool) {
    const call = { id: `call_${Date.now()}_${++calls}`, name: tool.name, args: { [tool.argument]: rest } };
    return { messages: [new AIMessage({ content: '', tool_calls: [call] })] };
  }
  const text =
    verb === 'count' ? Array.from({ length: Number(rest) }, (_, at) => `w${at}`).join(' ') : `You said: ${last.text}`;
  return { messages: [await speak(text, config, messages, verb === 'count' ? 10 : 1)] };
}

/** Accepts answers of a page: `yes`, or the objects that agent inboxes send. */
function isApproval(decision: unknown): boolean {
  return decision === 'yes' || (Array.isArray(decision) && (decision[0] as { type?: string }).type === 'accept');
}

/** Runs tools. A mail needs an approval first, in the form that agent inboxes expect. */
function tools({ messages }: typeof State.State): typeof State.Update {
  const [{ id, name, args }] = (messages.at(-1) as AIMessage).tool_calls!;
  const say = (content: string): typeof State.Update => ({
    messages: [new ToolMessage({ content, name, tool_call_id: id! })],
  });
  if (name === 'get_weather') return say(`Sunny in ${args.city}`);
  const decision: unknown = interrupt([
    {
      action_request: { action: name, args },
      config: { allow_accept: true, allow_ignore: true, allow_respond: false, allow_edit: false },
      description: 'May this mail be sent?',
    },
  ]);
  return say(isApproval(decision) ? `Sent to ${args.to}` : 'Not sent');
}

export const agent = new StateGraph(State)
  .addNode('model', model)
  .addNode('tools', tools)
  .addEdge(START, 'model')
  .addConditionalEdges('model', ({ messages }) => ((messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END))
  .addEdge('tools', 'model')
  .compile({ name: 'agent' });
