import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useTemporalLink } from '../../api/info';
import { useUrlState } from '../../app/url-state';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy-button';
import { Dialog } from '../../ui/dialog';
import { Loaded } from '../../ui/feedback';
import { bytes, whole } from '../../ui/numbers';
import { Facts } from '../../ui/page';
import { Status } from '../../ui/status';
import { notifyError } from '../../ui/toast';
import { Time } from '../../ui/time';
import { VirtualList } from '../../ui/virtual-list';
import { type ExportRun, exportRunQuery, retryExportRun } from './exports-api';
import { FilePreview } from './file-preview';

/** Height in pixels that a row is assumed to have until it is rendered. */
const ROW_ESTIMATE = 34;

interface Props {
  exportId: string;
  runId: string;
  onClose: () => void;
}

/** One day of an export: its files with a preview, and the errors of its failed attempts. */
export function PartitionDialog({ exportId, runId, onClose }: Props) {
  const query = useQuery(exportRunQuery(exportId, runId));
  return (
    <Dialog title={query.data?.start_time.slice(0, 10) ?? 'Day'} open onClose={onClose} wide>
      <Loaded of={query}>{(run) => <Partition exportId={exportId} run={run} onClose={onClose} />}</Loaded>
    </Dialog>
  );
}

function Partition({ exportId, run, onClose }: { exportId: string; run: ExportRun; onClose: () => void }) {
  const [{ file: shown }, change] = useUrlState();
  const client = useQueryClient();
  const temporal = useTemporalLink(`export-${exportId}-${run.start_time.slice(0, 10)}`);
  const retry = useMutation({
    mutationFn: () => retryExportRun(exportId, run.id),
    onError: notifyError,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['exports'] });
      onClose();
    },
  });
  const { result } = run.metadata;
  const selected = result.exported_files.findIndex((file) => file === shown);
  return (
    <div className="space-y-5">
      <Facts
        facts={[
          ['Status', <Status status={run.status} />],
          ['Rows', `${whole(result.rows_written)} of ${whole(result.rows_total)}`],
          ['Size', bytes(result.bytes_written)],
          ['Verified', result.verified === null ? 'not yet' : result.verified ? 'yes' : 'no'],
          ['Finished', <Time at={run.finished_at} />],
          ...(temporal
            ? [
                [
                  'Workflow',
                  <a key="temporal" href={temporal} target="_blank" rel="noreferrer" className="text-accent underline">
                    Temporal
                  </a>,
                ] as [string, ReactNode],
              ]
            : []),
        ]}
      />
      {run.errors && (
        <div className="space-y-1 text-bad">
          {Object.entries(run.errors).map(([attempt, error]) => (
            <p key={attempt}>{`${attempt.replace('retry_', 'Attempt ')}: ${error}`}</p>
          ))}
          {run.error_hint && <p>{run.error_hint}</p>}
        </div>
      )}
      <div>
        <h3 className="caps mb-1">Files</h3>
        {result.exported_files.length === 0 && <p className="text-muted">None yet.</p>}
        <div className="max-h-72 overflow-auto">
          <VirtualList
            items={result.exported_files}
            keyOf={(file) => file}
            label="Files"
            estimate={ROW_ESTIMATE}
            selected={selected < 0 ? undefined : selected}
          >
            {(file) => (
              <div className="flex items-center gap-1 font-mono text-xs break-all">
                <button
                  type="button"
                  aria-expanded={file === shown}
                  title="Show the schema and the first rows"
                  className="text-left text-accent hover:underline"
                  onClick={() => change({ file: file === shown ? undefined : file })}
                >
                  {file}
                </button>
                <CopyButton text={file} />
              </div>
            )}
          </VirtualList>
        </div>
      </div>
      {shown && result.exported_files.includes(shown) && (
        <FilePreview exportId={exportId} runId={run.id} file={shown} />
      )}
      {run.status === 'Failed' && (
        <Button icon="retry" disabled={retry.isPending} onClick={() => retry.mutate()}>
          Export this day again
        </Button>
      )}
    </div>
  );
}
