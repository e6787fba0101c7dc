// Uses the client of A2A 0.3 as another agent would, and prints what it got as JSON. Argument: the API's address.
import { randomUUID } from 'node:crypto';
import { ClientFactory } from '@a2a-js/sdk/client';

const [url] = process.argv.slice(2);
const factory = new ClientFactory();
const connect = (agent) => factory.createFromUrl(url, `/.well-known/agent-card.json?assistant_id=${agent}`);

const message = (parts, more = {}) => ({
  message: { kind: 'message', messageId: randomUUID(), role: 'user', parts, ...more },
});
const say = (text, more) => message([{ kind: 'text', text }], more);
const textOf = ({ artifacts = [] }) => artifacts.flatMap(({ parts }) => parts.map(({ text }) => text ?? '')).join('');
const all = async (stream) => {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
};
const refusal = (promise) =>
  promise.then(
    () => null,
    (error) => error.message,
  );

const out = {};
const [talk, desk, prose] = await Promise.all(['talk', 'desk', 'prose'].map(connect));
out.name = (await talk.getAgentCard()).name;
const sent = await talk.sendMessage(say('Count'));
out.sent = textOf(sent);
out.read = textOf(await talk.getTask({ id: sent.id }));
const streamed = await all(talk.sendMessageStream(say('Count')));
out.streamed = streamed
  .filter(({ kind }) => kind === 'artifact-update')
  .map(({ artifact }) => textOf({ artifacts: [artifact] }))
  .join('');
out.last = streamed.at(-1).status.state;
const asked = await desk.sendMessage(say('Refund me'));
out.asked = asked.status.state;
out.answered = textOf(await desk.sendMessage(say('yes', { taskId: asked.id, contextId: asked.contextId })));
const tale = prose.sendMessageStream(say('Tell'));
const { id } = (await tale.next()).value;
await tale.next();
await tale.return();
out.rejoined = (await all(prose.resubscribeTask({ id }))).at(-1).status.state;
const endless = prose.sendMessageStream(
  message([
    { kind: 'text', text: 'Tell' },
    { kind: 'data', data: { words: 5000 } },
  ]),
);
const running = (await endless.next()).value.id;
out.canceled = (await prose.cancelTask({ id: running })).status.state;
out.end = (await all(endless)).at(-1).status.state;
out.unknown = await refusal(talk.getTask({ id: randomUUID() }));
out.unknownStream = await refusal(all(talk.resubscribeTask({ id: randomUUID() })));
console.log(JSON.stringify(out));
