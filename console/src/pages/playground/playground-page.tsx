import { useAssistants } from '../../api/assistants';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { copy } from '../../ui/copy-button';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { Page } from '../../ui/page';
import { notify, notifyError } from '../../ui/toast';
import { Chat } from './chat';
import { useChatKey } from './chat-key';
import { useRunOptions } from './run-options';
import { Settings } from './settings';
import { modesOf } from './stream-log';

export default function PlaygroundPage() {
  const [{ assistant, thread, checkpoint, branch, settings, events, modes }, setState] = useUrlState();
  const assistants = useAssistants(assistant);
  const [options, setOptions] = useRunOptions();
  const isSettingsOpen = settings === 'open';
  const chat = useChatKey(thread);
  const list = assistants.data ?? [];
  // An unknown assistant in the address is reported, and never replaced by another one.
  const chosen = assistant
    ? list.find(({ assistant_id, graph_id, name }) => [assistant_id, graph_id, name].includes(assistant))
    : list[0];

  const begin = (): void => {
    setState({ thread: undefined, checkpoint: undefined, branch: undefined }, { push: true });
    if (!thread) chat.renew();
  };
  const share = (): Promise<void> =>
    copy(location.href).then(() => notify('The link to this thread is copied.'), notifyError);
  const body = {
    assistant_id: chosen?.assistant_id,
    input: { messages: [{ role: 'user', content: '…' }] },
    stream_mode: ['messages-tuple', 'values'],
    multitask_strategy: options.strategy,
    ...(options.config !== undefined && { config: { configurable: options.config } }),
    ...(options.context !== undefined && { context: options.context }),
  };
  return (
    <Page
      title="Playground"
      fills
      call={{ method: 'POST', path: thread ? `/threads/${thread}/runs/stream` : '/runs/stream', body }}
      beside={
        list.length > 0 && (
          <select
            aria-label="Assistant"
            className="field w-auto max-w-56 pr-7"
            value={chosen?.assistant_id ?? ''}
            onChange={({ target }) => {
              setState(
                { assistant: target.value, thread: undefined, checkpoint: undefined, branch: undefined },
                { push: true },
              );
              setOptions({ ...options, config: undefined, context: undefined });
            }}
          >
            {!chosen && <option value="">Choose an assistant</option>}
            {list.map(({ assistant_id, name, graph_id }) => (
              <option key={assistant_id} value={assistant_id}>
                {name === graph_id || !name ? graph_id : `${name} (${graph_id})`}
              </option>
            ))}
          </select>
        )
      }
      actions={
        <>
          <Button
            small
            icon="settings"
            aria-expanded={isSettingsOpen}
            onClick={() => setState({ settings: isSettingsOpen ? undefined : 'open' })}
          >
            Configuration
          </Button>
          {thread && (
            <Button small icon="link" onClick={() => void share()}>
              Share
            </Button>
          )}
          <Button small icon="plus" onClick={begin}>
            New thread
          </Button>
        </>
      }
    >
      {!assistants.data && !assistants.error && <Loading />}
      {assistants.error && (
        <div className="p-6">
          <ErrorBox error={assistants.error} retry={() => void assistants.refetch()} />
        </div>
      )}
      {assistants.data && !chosen && assistant && (
        <div className="p-6">
          <ErrorBox error={`There is no assistant “${assistant}”. Choose another one above.`} />
        </div>
      )}
      {assistants.data && list.length === 0 && (
        <Empty icon="assistants" title="The server has no assistant">
          Every graph of langgraph.json has one: look at the log of the api for what is wrong.
        </Empty>
      )}
      {chosen && (
        <div className="flex min-h-0 flex-1">
          <Chat
            key={`${chosen.assistant_id}-${chat.key}`}
            assistantId={chosen.assistant_id!}
            threadId={thread}
            checkpointId={checkpoint}
            options={options}
            onThread={(created) => {
              chat.keep(created);
              setState({ thread: created, assistant: chosen.assistant_id });
            }}
            onCheckpoint={(next) => setState({ checkpoint: next })}
            branch={branch}
            onBranch={(next) => setState({ branch: next })}
            showsEvents={events === 'open'}
            onShowEvents={(shows) => setState({ events: shows ? 'open' : undefined })}
            modes={modesOf(modes)}
            onModes={(next) => setState({ modes: next.join() || undefined })}
          />
          {isSettingsOpen && (
            <Settings
              key={chosen.assistant_id}
              assistantId={chosen.assistant_id!}
              options={options}
              onChange={setOptions}
            />
          )}
        </div>
      )}
    </Page>
  );
}
