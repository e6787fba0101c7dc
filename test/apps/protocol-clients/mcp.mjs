// Uses the client of MCP of the first generation, and LangChain's adapters on top of it; prints what they got as JSON. Argument: the
// API's address.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const url = `${process.argv[2]}/mcp`;
const out = {};

const client = new Client({ name: 'test', version: '1' }, { capabilities: { elicitation: {} } });
const questions = [];
client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
  questions.push(params.message);
  return { action: 'accept', content: { answer: 'by all means' } };
});
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
out.tools = (await client.listTools()).tools.map(({ name }) => name);
const messages = [];
const onprogress = ({ message }) => messages.push(message);
out.called = (
  await client.callTool({ name: 'three', arguments: { step_ms: 20 } }, undefined, { onprogress })
).structuredContent;
out.progress = messages;
out.answered = (await client.callTool({ name: 'ask', arguments: { question: 'Shall I?' } })).structuredContent;
out.questions = questions;
out.failed = await client.callTool({ name: 'fail', arguments: { message: 'On fire' } });
out.unknown = await client.callTool({ name: 'nobody', arguments: {} }).catch(({ code }) => code);
const prompt = { name: 'test_prompt_with_arguments', arguments: { arg1: 'a', arg2: 'b' } };
out.prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
out.prompt = (await client.getPrompt(prompt)).messages[0].content.text;
const { resources } = await client.listResources();
const note = resources.find(({ uri }) => uri.startsWith('gantry://store/notes/'));
out.resource = JSON.parse((await client.readResource({ uri: note.uri })).contents[0].text).value;
const stop = new AbortController();
const call = client.callTool({ name: 'sleep', arguments: { sleep_ms: 60_000, note: 'cancelled by 1.x' } }, undefined, {
  signal: stop.signal,
  onprogress,
});
setTimeout(() => stop.abort(), 2_000);
await call.catch(() => undefined);

const servers = new MultiServerMCPClient({ mcpServers: { gantry: { transport: 'http', url } } });
const tools = await servers.getTools();
const three = tools.find(({ name }) => name.endsWith('three'));
out.adapted = { tools: tools.length, result: await three.invoke({ step_ms: 1 }) };
await servers.close();
console.log(JSON.stringify(out));
process.exit(0);
