// Uses `@ag-ui/langgraph` as a CopilotKit backend does, and prints what a page would get as JSON. Argument: the API's address.
import { randomUUID } from 'node:crypto';
import { LangGraphAgent } from '@ag-ui/langgraph';

const [deploymentUrl] = process.argv.slice(2);

/** A page with its thread: sends messages, and collects the events that arrive. */
const page = (threadId = randomUUID(), graphId = 'agent') => {
  const agent = new LangGraphAgent({ deploymentUrl, graphId, threadId, emitInterruptOutcome: true });
  const run = async (parameters = {}) => {
    const events = [];
    await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event) });
    return { ...summary(events), threadId };
  };
  const say = (content, parameters) => {
    agent.addMessage({ id: randomUUID(), role: 'user', content });
    return run(parameters);
  };
  return { agent, threadId, run, say };
};

const summary = (events) => {
  const of = (type) => events.filter((event) => event.type === type);
  return {
    types: [...new Set(events.map(({ type }) => type))],
    text: of('TEXT_MESSAGE_CONTENT').map(({ delta }) => delta),
    calls: of('TOOL_CALL_START').map(({ toolCallName }) => toolCallName),
    args: of('TOOL_CALL_ARGS')
      .map(({ delta }) => delta)
      .join(''),
    results: of('TOOL_CALL_RESULT').map(({ content }) => content),
    steps: [...new Set(of('STEP_STARTED').map(({ stepName }) => stepName))],
    state: of('STATE_SNAPSHOT').at(-1)?.snapshot?.messages?.length,
    messages: of('MESSAGES_SNAPSHOT')
      .at(-1)
      ?.messages?.map(({ role, content }) => [role, content]),
    outcome: of('RUN_FINISHED').at(-1)?.outcome,
    error: of('RUN_ERROR').at(-1)?.message,
  };
};

const chat = page();
const said = await chat.say('hello');
const called = await chat.say('call get_weather {"city": "Bern"}');

const asking = page();
const asked = await asking.say('call send_mail {"to": "ann", "text": "hi"}');
const [{ id: interruptId }] = asked.outcome.interrupts;
const payload = { decisions: [{ type: 'approve' }] };
const resumed = await asking.run({ resume: [{ interruptId, status: 'resolved', payload }] });

// A page opened on an existing thread shows none of it until a run brings its messages.
const reopened = page(chat.threadId);
reopened.agent.setMessages(chat.agent.messages);
const continued = await reopened.say('again');

// The page edits its first message: everything after it is replaced.
const [first] = reopened.agent.messages;
reopened.agent.setMessages([
  { id: randomUUID(), role: 'assistant', content: 'Greeting of the page' },
  { ...first, content: 'edited' },
]);
const regenerated = await reopened.run();

console.log(JSON.stringify({ said, called, asked, resumed, continued, regenerated }));
