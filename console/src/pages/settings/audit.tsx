import { useInfiniteQuery } from '@tanstack/react-query';
import { useUrlState } from '../../app/url-state';
import { timeCell } from '../../ui/cells';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Empty, Loaded } from '../../ui/feedback';
import { ChoiceFilter } from '../../ui/filters';
import { rowsOf, useMore } from '../../ui/paged';
import { type AuditRecord, readAudit } from './settings-api';

const ACTIONS = ['create', 'update', 'delete', 'cancel', 'revoke', 'retry', 'trigger', 'backfill', 'prune', 'refuse'];
const column = columnsOf<AuditRecord>();

const COLUMNS = [
  column.accessor('at', { header: 'When', meta: { width: '6rem' }, cell: timeCell }),
  column.accessor('actor', {
    header: 'Who',
    meta: { width: 'minmax(8rem, 1fr)' },
    cell: ({ getValue }) => {
      const { kind, id, address } = getValue();
      return <span title={address ?? undefined}>{[kind, id].filter(Boolean).join(' ')}</span>;
    },
  }),
  column.accessor('action', { header: 'Action', meta: { width: '6rem' } }),
  column.accessor('resource', {
    header: 'What',
    meta: { width: 'minmax(9rem, 1.5fr)' },
    cell: ({ row: { original } }) => `${original.resource} ${original.resource_id ?? ''}`,
  }),
  column.accessor('changed', {
    header: 'Changed',
    meta: { width: 'minmax(7rem, 1fr)', wideOnly: true },
    cell: ({ getValue, row: { original } }) => getValue()?.join(', ') ?? original.reason ?? '',
  }),
];

export function Audit() {
  const [{ action }, change] = useUrlState();
  const list = useInfiniteQuery({
    queryKey: ['admin', 'audit', action],
    queryFn: ({ pageParam }) => readAudit(action, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (last) => last.at(-1)?.audit_id,
    select: rowsOf,
    retry: false,
  });
  const more = useMore(list);
  return (
    <div className="flex h-full min-h-0 flex-col gap-3">
      <ChoiceFilter
        label="Action"
        any="Any action"
        value={action}
        options={ACTIONS}
        onChange={(value) => change({ action: value })}
      />
      <Loaded of={list}>
        {(rows) => (
          <div className="card flex min-h-64 flex-1 flex-col overflow-hidden">
            <DataTable
              label="Audit log"
              rows={rows}
              columns={COLUMNS as never}
              rowId={({ audit_id: id }) => id}
              onEnd={more}
              empty={
                <Empty icon="settings" title="No record matches">
                  Changes by API keys, users and operators are recorded. Take a filter away to see more of them.
                </Empty>
              }
            />
          </div>
        )}
      </Loaded>
    </div>
  );
}
