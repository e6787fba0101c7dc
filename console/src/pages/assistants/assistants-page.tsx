import type { Assistant } from '@langchain/langgraph-sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { graphsQuery } from '../../api/assistants';
import { searchPage } from '../../api/json';
import { sdk } from '../../api/sdk';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters';
import { FormDialog } from '../../ui/form-dialog';
import { SelectField, TextField } from '../../ui/form-field';
import { Page } from '../../ui/page';
import { usePaged } from '../../ui/paged';

const PAGE_SIZE = 100;

const listAssistants = (name: string, graph: string | undefined, offset: number) =>
  searchPage<Assistant>('/assistants/search', {
    limit: PAGE_SIZE,
    offset,
    sort_by: 'name',
    sort_order: 'asc',
    ...(name && { name }),
    ...(graph && { graph_id: graph }),
  });

const column = columnsOf<Assistant>();
const COLUMNS = [
  column.accessor('name', { header: 'Name', meta: { width: 'minmax(9rem, 1.5fr)' } }),
  column.accessor('graph_id', { header: 'Graph', meta: { width: 'minmax(7rem, 1fr)' } }),
  column.accessor('description', { header: 'Description', meta: { width: 'minmax(8rem, 2fr)', wideOnly: true } }),
  column.accessor('version', { header: 'Version', meta: { width: '5rem', wideOnly: true } }),
  column.accessor('updated_at', {
    header: 'Changed',
    meta: { width: '6rem' },
    cell: timeCell,
  }),
];

function AssistantDialog({ graphs, onClose }: { graphs: string[]; onClose: () => void }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [graph, setGraph] = useState(graphs[0] ?? '');
  const [description, setDescription] = useState('');
  const submit = async (): Promise<void> => {
    const made = await sdk.assistants.create({ graphId: graph, name, ...(description && { description }) });
    await client.invalidateQueries({ queryKey: ['assistants'] });
    void navigate({ to: `/assistants/${made.assistant_id}` as never });
  };
  return (
    <FormDialog title="New assistant" action="Create" submit={submit} onClose={onClose}>
      <SelectField
        label="Graph"
        value={graph}
        onChange={setGraph}
        options={graphs.map((each) => [each, each] as const)}
      />
      <TextField label="Name" value={name} onChange={setName} isRequired />
      <TextField label="Description" value={description} onChange={setDescription} />
    </FormDialog>
  );
}

export default function AssistantsPage() {
  const [{ name = '', graph }, change] = useUrlState();
  const [isCreating, setCreating] = useState(false);
  const list = usePaged(['assistants', 'list', name, graph], (offset) => listAssistants(name, graph, offset));
  const { data: ofServer = [] } = useQuery(graphsQuery);
  const graphs = [...new Set([...ofServer, ...(list.data ?? []).map(({ graph_id: each }) => each)])].sort();
  return (
    <Page
      title="Assistants"
      fills
      beside={<span className="text-xs text-muted tabular-nums">{list.total?.toLocaleString()}</span>}
      call={{
        method: 'POST',
        path: '/assistants/search',
        body: { limit: 100 },
        js: 'assistants.search({ limit: 100 })',
        python: 'assistants.search(limit=100)',
      }}
      actions={
        <Button small look="primary" icon="plus" onClick={() => setCreating(true)}>
          New assistant
        </Button>
      }
    >
      <Filters>
        <TextFilter label="Find an assistant by its name" value={name} onChange={(value) => change({ name: value })} />
        <ChoiceFilter
          label="Graph"
          any="Any graph"
          value={graph}
          options={graphs}
          onChange={(value) => change({ graph: value })}
        />
      </Filters>
      <Loaded of={list} inset>
        {(assistants) => (
          <DataTable
            label="Assistants"
            rows={assistants}
            total={list.total}
            onEnd={list.more}
            columns={COLUMNS as never}
            rowId={({ assistant_id: id }) => id}
            linkOf={({ assistant_id: id }) => `/assistants/${id}`}
            empty={
              <Empty icon="assistants" title="No assistant matches">
                Each graph of langgraph.json has an assistant of its own; others give it another configuration.
              </Empty>
            }
          />
        )}
      </Loaded>
      {isCreating && <AssistantDialog graphs={graphs} onClose={() => setCreating(false)} />}
    </Page>
  );
}
