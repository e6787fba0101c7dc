import type { AssistantVersion } from '@langchain/langgraph-sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { assistantsQuery } from '../../api/assistants';
import { schemasQuery } from '../../api/graph-schemas';
import { sdk } from '../../api/sdk';
import { useUrlState } from '../../app/url-state';
import { Button, buttonClass, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/dialog';
import { ErrorBox, Loading } from '../../ui/feedback';
import { FormDialog } from '../../ui/form-dialog';
import { TextField } from '../../ui/form-field';
import { JsonDiff } from '../../ui/json-diff';
import { JsonView } from '../../ui/json-view';
import { Facts, Page } from '../../ui/page';
import { SchemaForm } from '../../ui/schema-form';
import { Tabs } from '../../ui/tabs';
import { notify, notifyError } from '../../ui/toast';
import { Time } from '../../ui/time';
import { VirtualList } from '../../ui/virtual-list';

const RunGraph = lazy(() => import('../runs/run-graph'));
const MOST_VERSIONS = 100;
/** Height in pixels that a row of the versions is assumed to have until it is rendered. */
const ROW_ESTIMATE = 42;

/** Content of a version: its name and configuration, without the fields that every version has. */
const contentOf = ({ name, description, config, context, metadata }: AssistantVersion) => ({
  name,
  description,
  config,
  context,
  metadata,
});

function Versions({ id, current }: { id: string; current: number }) {
  const client = useQueryClient();
  const [{ from, to }, change] = useUrlState();
  const query = useQuery({
    queryKey: ['assistants', id, 'versions'],
    queryFn: () => sdk.assistants.getVersions(id, { limit: MOST_VERSIONS }),
  });
  const setLatest = useMutation({
    mutationFn: (version: number) => sdk.assistants.setLatest(id, version),
    onError: notifyError,
    onSuccess: async (made) => {
      notify(`Version ${made.version} is the current one.`);
      await client.invalidateQueries({ queryKey: ['assistants'] });
    },
  });
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  const versions = query.data;
  if (!versions) return <Loading />;
  const find = (number: string | undefined): AssistantVersion | undefined =>
    versions.find(({ version }) => String(version) === number);
  const after = find(to) ?? versions[0];
  const before = find(from) ?? versions[1];
  return (
    <div className="grid gap-6 lg:grid-cols-[18rem_1fr]">
      <div className="max-h-112 overflow-auto">
        <VirtualList
          items={versions}
          keyOf={({ version }) => String(version)}
          label="Versions"
          estimate={ROW_ESTIMATE}
          gap={4}
        >
          {({ version, created_at: at }) => (
            <div className="card flex items-center gap-2 px-3 py-1.5">
              <span className="font-medium">{`Version ${version}`}</span>
              {version === current && <span className="text-xs text-good">current</span>}
              <span className="ml-auto text-muted">
                <Time at={at} />
              </span>
              {version !== current && (
                <Button small disabled={setLatest.isPending} onClick={() => setLatest.mutate(version)}>
                  Make current
                </Button>
              )}
            </div>
          )}
        </VirtualList>
      </div>
      {before ? (
        <div className="space-y-3">
          <div className="flex items-center gap-2">
            {(
              [
                ['from', 'Compare', before],
                ['to', 'with', after],
              ] as const
            ).map(([key, label, chosen]) => (
              <label key={key} className="flex items-center gap-1.5">
                {label}
                <select
                  className="field w-32"
                  value={chosen.version}
                  onChange={({ target }) => change({ [key]: target.value })}
                >
                  {versions.map(({ version }) => (
                    <option key={version} value={version}>{`Version ${version}`}</option>
                  ))}
                </select>
              </label>
            ))}
          </div>
          <JsonDiff before={contentOf(before)} after={contentOf(after)} />
        </div>
      ) : (
        <p className="text-muted">A change of the assistant makes a second version, to compare this one with.</p>
      )}
    </div>
  );
}

function ConfigurationDialog({ id, onClose }: { id: string; onClose: () => void }) {
  const client = useQueryClient();
  const assistant = useQuery({ queryKey: ['assistants', id], queryFn: () => sdk.assistants.get(id) }).data;
  const schemas = useQuery(schemasQuery(id)).data;
  const [context, setContext] = useState<unknown>();
  const [name, setName] = useState<string>();
  if (!assistant) return null;
  const schema = schemas?.context_schema ?? schemas?.config_schema ?? {};
  const submit = async (): Promise<void> => {
    await sdk.assistants.update(id, {
      ...(name !== undefined && { name }),
      ...(context !== undefined && { context }),
    });
    await client.invalidateQueries({ queryKey: ['assistants'] });
  };
  return (
    <FormDialog
      title={`Change ${assistant.name}`}
      action="Save as a new version"
      submit={submit}
      onClose={onClose}
      wide
    >
      <TextField label="Name" value={name ?? assistant.name} onChange={setName} isRequired />
      <SchemaForm
        schema={schema as never}
        value={context ?? assistant.context ?? {}}
        onChange={setContext}
        omit={['thread_id', 'run_id', 'checkpoint_id', 'checkpoint_ns']}
      />
    </FormDialog>
  );
}

function Schemas({ id }: { id: string }) {
  const query = useQuery(schemasQuery(id));
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  const { input_schema, output_schema, state_schema, context_schema, config_schema } = query.data;
  const parts = {
    Input: input_schema,
    Output: output_schema,
    State: state_schema,
    Context: context_schema ?? config_schema,
  };
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      {Object.entries(parts).map(([title, schema]) => (
        <section key={title} className="card p-3">
          <h3 className="caps mb-1.5">{title}</h3>
          {schema ? <JsonView value={schema} /> : <p className="text-muted">The graph has no such schema.</p>}
        </section>
      ))}
    </div>
  );
}

export default function AssistantPage() {
  const { assistantId } = useParams({ strict: false }) as { assistantId: string };
  const [{ tab = 'configuration' }, change] = useUrlState();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [dialog, setDialog] = useState<'edit' | 'delete'>();
  const query = useQuery({
    queryKey: ['assistants', assistantId],
    queryFn: () => sdk.assistants.get(assistantId),
  });
  const assistant = query.data;
  const isDefault = assistant?.metadata?.created_by === 'system';
  return (
    <Page
      title={assistant?.name ?? 'Assistant'}
      parent={{ title: 'Assistants', to: '/assistants' }}
      beside={assistant && <span className="text-muted">{`version ${assistant.version}`}</span>}
      call={{
        method: 'GET',
        path: `/assistants/${assistantId}`,
        js: `assistants.get("${assistantId}")`,
        python: `assistants.get("${assistantId}")`,
      }}
      actions={
        <>
          <Link
            to={'/playground' as never}
            search={{ assistant: assistantId } as never}
            className={buttonClass('plain', true)}
          >
            Open in the playground
          </Link>
          <Button small icon="edit" onClick={() => setDialog('edit')}>
            Change
          </Button>
          {!isDefault && <IconButton icon="trash" label="Delete the assistant" onClick={() => setDialog('delete')} />}
        </>
      }
    >
      {query.error ? (
        <ErrorBox error={query.error} retry={() => void query.refetch()} />
      ) : !assistant ? (
        <Loading />
      ) : (
        <div className="space-y-5">
          <Facts
            facts={[
              ['Id', <span className="font-mono text-xs">{assistant.assistant_id}</span>],
              ['Graph', assistant.graph_id],
              ['Description', assistant.description ?? '—'],
              ['Created', <Time at={assistant.created_at} />],
              ['Changed', <Time at={assistant.updated_at} />],
            ]}
          />
          <Tabs
            label="Parts of the assistant"
            value={tab}
            onChange={(value) => change({ tab: value })}
            tabs={[
              {
                value: 'configuration',
                label: 'Configuration',
                content: (
                  <div className="grid gap-4 lg:grid-cols-2">
                    {Object.entries({
                      Context: assistant.context,
                      Config: assistant.config,
                      Metadata: assistant.metadata,
                    }).map(([title, value]) => (
                      <section key={title} className="card p-3">
                        <h3 className="caps mb-1.5">{title}</h3>
                        <JsonView value={value ?? {}} />
                      </section>
                    ))}
                  </div>
                ),
              },
              {
                value: 'versions',
                label: 'Versions',
                content: <Versions id={assistantId} current={assistant.version} />,
              },
              {
                value: 'graph',
                label: 'Graph',
                content: (
                  <Suspense fallback={<Loading />}>
                    <RunGraph assistantId={assistantId} />
                  </Suspense>
                ),
              },
              { value: 'schemas', label: 'Schemas', content: <Schemas id={assistantId} /> },
            ]}
          />
        </div>
      )}
      {dialog === 'edit' && <ConfigurationDialog id={assistantId} onClose={() => setDialog(undefined)} />}
      {dialog === 'delete' && (
        <Confirm
          title="Delete this assistant?"
          action="Delete assistant"
          open
          onClose={() => setDialog(undefined)}
          act={async () => {
            await sdk.assistants.delete(assistantId);
            await client.invalidateQueries({ queryKey: assistantsQuery.queryKey });
            void navigate({ to: '/assistants' as never });
          }}
        >
          Its versions go with it. Threads and their runs stay.
        </Confirm>
      )}
    </Page>
  );
}
