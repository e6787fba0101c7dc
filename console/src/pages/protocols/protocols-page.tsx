import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useAssistantOptions } from '../../api/assistant-options';
import { assistantsQuery } from '../../api/assistants';
import { useInfo } from '../../api/info';
import { API_URL } from '../../app/base';
import { useUrlState } from '../../app/url-state';
import type { Call } from '../../ui/api-call';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy-button';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { SelectField, TextField } from '../../ui/form-field';
import { JsonView } from '../../ui/json-view';
import { Facts, Page, Section } from '../../ui/page';
import { SchemaForm } from '../../ui/schema-form';
import { type Tab, Tabs } from '../../ui/tabs';
import { VirtualList } from '../../ui/virtual-list';
import { callTool, cardQuery, sendToAgent, type Tool, toolsQuery } from './protocols-api';
import { servesAgents, servesTools } from './served';

/** Height in pixels that a row is assumed to have until it is rendered. */
const TOOL_ESTIMATE = 54;

function Agents() {
  const [{ agent }, change] = useUrlState();
  const { options: assistants, hint } = useAssistantOptions(agent);
  const chosen = agent ?? assistants[0]?.[0] ?? '';
  const card = useQuery(cardQuery(chosen));
  const [text, setText] = useState('');
  const send = useMutation({ mutationFn: () => sendToAgent(chosen, text) });
  const listed = useQuery(assistantsQuery);
  if (listed.error) return <ErrorBox error={listed.error} retry={() => void listed.refetch()} />;
  return (
    <div className="grid gap-6 lg:grid-cols-2">
      <div className="space-y-4">
        <SelectField
          label="Agent"
          value={chosen}
          onChange={(value) => change({ agent: value })}
          options={assistants}
          hint={hint}
        />
        {card.error ? (
          <ErrorBox error={card.error} retry={() => void card.refetch()} />
        ) : card.data ? (
          <Section title="Card">
            <Facts
              facts={[
                ['Address', <Address text={`${API_URL}/a2a/${chosen}`} />],
                ['Name', card.data.name],
                ['Description', card.data.description],
                ['Skills', card.data.skills.map(({ name }) => name).join(', ') || '—'],
              ]}
            />
            <details className="card mt-3 p-3">
              <summary className="font-medium">The whole card</summary>
              <JsonView value={card.data} />
            </details>
          </Section>
        ) : (
          <Loading />
        )}
      </div>
      <Section title="Try it">
        <form
          className="space-y-3"
          onSubmit={(event) => {
            event.preventDefault();
            send.mutate();
          }}
        >
          <TextField label="Message" rows={3} value={text} onChange={setText} isRequired />
          <Button type="submit" look="primary" icon="send" disabled={send.isPending || chosen === ''}>
            {send.isPending ? 'Waiting for the task…' : 'Send'}
          </Button>
        </form>
        <div className="mt-3" aria-live="polite">
          {send.error && <ErrorBox error={send.error} />}
          {send.data !== undefined && (
            <div className="card p-3">
              <JsonView value={send.data} open={5} />
            </div>
          )}
        </div>
      </Section>
    </div>
  );
}

function Address({ text }: { text: string }) {
  return (
    <span className="inline-flex items-center gap-1 font-mono text-xs break-all">
      {text}
      <CopyButton text={text} />
    </span>
  );
}

function ToolTrial({ tool }: { tool: Tool }) {
  const [input, setInput] = useState<unknown>({});
  const call = useMutation({ mutationFn: () => callTool(tool.name, input) });
  return (
    <form
      className="space-y-3"
      onSubmit={(event) => {
        event.preventDefault();
        call.mutate();
      }}
    >
      <SchemaForm schema={tool.inputSchema as never} value={input} onChange={setInput} />
      <Button type="submit" look="primary" icon="send" disabled={call.isPending}>
        {call.isPending ? 'Waiting for the result…' : 'Call the tool'}
      </Button>
      <div aria-live="polite">
        {call.error && <ErrorBox error={call.error} />}
        {call.data && (
          <div className={`card p-3 ${call.data.isError ? 'text-bad' : ''}`}>
            <JsonView value={call.data.structuredContent ?? call.data.content} open={4} />
          </div>
        )}
      </div>
    </form>
  );
}

function Tools() {
  const [{ tool: name }, change] = useUrlState();
  const query = useQuery(toolsQuery);
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  if (query.data.length === 0) {
    return (
      <Empty icon="protocols" title="No tools">
        Each assistant whose graph can be served is a tool.
      </Empty>
    );
  }
  const chosen = query.data.find((each) => each.name === name) ?? query.data[0];
  return (
    <div className="space-y-4">
      <p className="flex flex-wrap items-center gap-2 text-soft">
        MCP clients connect to <Address text={`${API_URL}/mcp`} />
      </p>
      <div className="grid gap-6 lg:grid-cols-[18rem_1fr]">
        <div className="max-h-[70vh] overflow-auto">
          <VirtualList
            items={query.data}
            keyOf={(each) => each.name}
            label="Tools"
            estimate={TOOL_ESTIMATE}
            gap={4}
            selected={query.data.indexOf(chosen)}
          >
            {(each) => (
              <button
                type="button"
                aria-current={each === chosen ? 'true' : undefined}
                className={`w-full rounded-md px-3 py-2 text-left ${each === chosen ? 'bg-accent-soft' : 'hover:bg-hover'}`}
                onClick={() => change({ tool: each.name })}
              >
                <span className="block font-medium">{each.name}</span>
                <span className="block truncate text-xs text-muted">{each.description}</span>
              </button>
            )}
          </VirtualList>
        </div>
        <Section title={`Try ${chosen.name}`}>
          <ToolTrial key={chosen.name} tool={chosen} />
        </Section>
      </div>
    </div>
  );
}

const TABS: (Tab & { isServed: typeof servesTools; call: Call })[] = [
  {
    value: 'a2a',
    label: 'Agents (A2A)',
    content: <Agents />,
    isServed: servesAgents,
    call: { method: 'GET', path: '/.well-known/agent-card.json' },
  },
  {
    value: 'mcp',
    label: 'Tools (MCP)',
    content: <Tools />,
    isServed: servesTools,
    call: { method: 'POST', path: '/mcp', body: { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} } },
  },
];

export default function ProtocolsPage() {
  const [{ tab }, change] = useUrlState();
  const info = useInfo();
  const served = TABS.filter(({ isServed }) => !info || isServed(info.flags));
  // Where neither is served, the page at this address says what the server says.
  const tabs = served.length > 0 ? served : TABS;
  const open = tabs.find(({ value }) => value === tab) ?? tabs[0];
  return (
    <Page title="A2A and MCP" call={open.call}>
      <Tabs label="Protocols" value={open.value} onChange={(value) => change({ tab: value })} tabs={tabs} />
    </Page>
  );
}
