import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { sendJson } from '../../api/json';
import { useUrlState } from '../../app/url-state';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/dialog';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { Page } from '../../ui/page';
import { Time } from '../../ui/time';
import { type Item, ItemDialog } from './item-dialog';
import { VirtualList } from '../../ui/virtual-list';
import { type Row, rowsOf, treeOf } from './namespace-tree';

const MOST_NAMESPACES = 1000;
const PAGE_SIZE = 100;
/** Height in pixels of a row of the tree. */
const ROW_ESTIMATE = 28;
/** Indent of each level of the tree; further ones would leave no room for their labels. */
const INDENT_REM = 0.75;
const DEEPEST = 8;

interface FoundItem extends Item {
  score: number | null;
}

/** Labels may contain any character, so the page's address has them as JSON. */
function parsePath(text: string | undefined): string[] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.map(String) : [];
  } catch {
    return [];
  }
}

/** The namespaces as a tree, of which only the rows in sight are rendered. */
function NamespaceTree({
  rows,
  chosen,
  onChoose,
}: {
  rows: Row[];
  chosen: string;
  onChoose: (path: string[]) => void;
}) {
  const selected = rows.findIndex(({ path }) => JSON.stringify(path) === chosen);
  return (
    <VirtualList
      items={rows}
      keyOf={({ path }) => JSON.stringify(path)}
      label="Tree of namespaces"
      estimate={ROW_ESTIMATE}
      selected={selected < 0 ? undefined : selected}
    >
      {({ path, label, depth }, index) => (
        <div style={{ paddingLeft: `${Math.min(depth, DEEPEST) * INDENT_REM}rem` }}>
          <button
            type="button"
            title={path.join(' › ')}
            aria-current={index === selected ? 'true' : undefined}
            className={`w-full truncate rounded-md px-2 py-1 text-left ${index === selected ? 'bg-accent-soft' : 'hover:bg-hover'} ${depth > 0 ? 'border-l border-line' : ''}`}
            onClick={() => onChoose(path)}
          >
            {label}
          </button>
        </div>
      )}
    </VirtualList>
  );
}

export default function StorePage() {
  const [{ namespace: text, query = '', offset = '0' }, change] = useUrlState();
  const client = useQueryClient();
  const path = useMemo(() => parsePath(text), [text]);
  const [edited, setEdited] = useState<Item | 'new'>();
  const [doomed, setDoomed] = useState<Item>();
  const namespaces = useQuery({
    queryKey: ['store', 'namespaces'],
    queryFn: () => sendJson<{ namespaces: string[][] }>('POST', '/store/namespaces', { limit: MOST_NAMESPACES }),
  });
  const body = {
    namespace_prefix: path,
    ...(query && { query }),
    limit: PAGE_SIZE,
    offset: Number(offset),
    refresh_ttl: false,
  };
  const items = useQuery({
    queryKey: ['store', 'items', body],
    queryFn: () => sendJson<{ items: FoundItem[] }>('POST', '/store/items/search', body),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const rows = useMemo(() => rowsOf(treeOf(namespaces.data?.namespaces ?? [])), [namespaces.data]);
  const found = items.data?.items ?? [];
  const step = (by: number): void => change({ offset: String(Math.max(0, Number(offset) + by)) });
  return (
    <Page
      title="Store"
      fills
      call={{
        method: 'POST',
        path: '/store/items/search',
        body,
        js: `store.searchItems(${JSON.stringify(path)}, { limit: ${PAGE_SIZE} })`,
        python: `store.search_items(${JSON.stringify(path)}, limit=${PAGE_SIZE})`,
      }}
      actions={
        <Button small look="primary" icon="plus" onClick={() => setEdited('new')}>
          New item
        </Button>
      }
    >
      <div className="grid min-h-0 flex-1 grid-cols-[minmax(0,1fr)] grid-rows-[auto_1fr] md:grid-cols-[15rem_minmax(0,1fr)] md:grid-rows-1">
        <nav
          aria-label="Namespaces"
          className="max-h-48 overflow-auto border-b border-line p-2 md:max-h-none md:border-r md:border-b-0"
        >
          <button
            type="button"
            className={`w-full rounded-md px-2 py-1 text-left ${path.length === 0 ? 'bg-accent-soft' : 'hover:bg-hover'}`}
            onClick={() => change({ namespace: undefined, offset: undefined })}
          >
            Every namespace
          </button>
          <NamespaceTree
            rows={rows}
            chosen={JSON.stringify(path)}
            onChoose={(next) => change({ namespace: JSON.stringify(next), offset: undefined })}
          />
          {namespaces.data?.namespaces.length === MOST_NAMESPACES && (
            <p className="px-2 py-1 text-xs text-muted">{`The first ${MOST_NAMESPACES} are shown.`}</p>
          )}
        </nav>
        <div className="flex min-h-0 min-w-0 flex-col">
          <div className="flex gap-2 px-4 py-2 sm:px-6">
            <input
              type="search"
              aria-label="Search by meaning"
              placeholder="Search by meaning, where store.index is configured"
              className="field max-w-md"
              defaultValue={query}
              onKeyDown={({ key, currentTarget }) =>
                key === 'Enter' && change({ query: currentTarget.value, offset: undefined })
              }
            />
          </div>
          <div className="min-h-0 flex-1 overflow-auto px-4 pb-4 sm:px-6">
            {items.error ? (
              <ErrorBox error={items.error} retry={() => void items.refetch()} />
            ) : items.isLoading ? (
              <Loading />
            ) : found.length === 0 ? (
              <Empty icon="store" title="No items here">
                Graphs put what they remember over threads into the store, with <code>store.put</code>.
              </Empty>
            ) : (
              <ul className="space-y-2">
                {found.map((item) => (
                  <li key={JSON.stringify([item.namespace, item.key])} className="card px-3 py-2">
                    <header className="flex items-center gap-2">
                      <span className="min-w-0 truncate font-medium" title={item.key}>
                        {item.key}
                      </span>
                      <span className="min-w-0 flex-1 truncate text-xs text-muted" title={item.namespace.join(' › ')}>
                        {item.namespace.join(' › ')}
                      </span>
                      {item.score !== null && <span className="text-xs tabular-nums">{item.score.toFixed(3)}</span>}
                      <Time at={item.updated_at} />
                      <IconButton icon="edit" label={`Edit ${item.key}`} onClick={() => setEdited(item)} />
                      <IconButton icon="trash" label={`Delete ${item.key}`} onClick={() => setDoomed(item)} />
                    </header>
                    <JsonView value={item.value} open={1} />
                  </li>
                ))}
              </ul>
            )}
            {(found.length === PAGE_SIZE || Number(offset) > 0) && (
              <div className="mt-3 flex justify-end gap-2">
                <Button small disabled={offset === '0'} onClick={() => step(-PAGE_SIZE)}>
                  Earlier items
                </Button>
                <Button small disabled={found.length < PAGE_SIZE} onClick={() => step(PAGE_SIZE)}>
                  Further items
                </Button>
              </div>
            )}
          </div>
        </div>
      </div>
      {edited && (
        <ItemDialog
          item={edited === 'new' ? undefined : edited}
          namespace={path}
          onClose={() => setEdited(undefined)}
        />
      )}
      {doomed && (
        <Confirm
          title={`Delete ${doomed.key}?`}
          action="Delete item"
          open
          onClose={() => setDoomed(undefined)}
          act={async () => {
            await sendJson('DELETE', '/store/items', { namespace: doomed.namespace, key: doomed.key });
            await client.invalidateQueries({ queryKey: ['store'] });
          }}
        >
          {`It is removed from ${doomed.namespace.join(' › ')} for every thread.`}
        </Confirm>
      )}
    </Page>
  );
}
