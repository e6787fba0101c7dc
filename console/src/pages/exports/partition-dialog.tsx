import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Button } from '../../ui/button';
import { CopyButton } from '../../ui/copy-button';
import { Dialog } from '../../ui/dialog';
import { bytes, whole } from '../../ui/numbers';
import { Facts } from '../../ui/page';
import { Status } from '../../ui/status';
import { notifyError } from '../../ui/toast';
import { Time } from '../../ui/time';
import { type ExportRun, retryExportRun } from './exports-api';

/** One day of an export: its files, and the errors of its failed attempts. */
export function PartitionDialog({ exportId, run, onClose }: { exportId: string; run: ExportRun; onClose: () => void }) {
  const client = useQueryClient();
  const retry = useMutation({
    mutationFn: () => retryExportRun(exportId, run.id),
    onError: notifyError,
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['exports'] });
      onClose();
    },
  });
  const { result } = run.metadata;
  return (
    <Dialog title={`${run.start_time.slice(0, 10)}`} open onClose={onClose} wide>
      <div className="space-y-5">
        <Facts
          facts={[
            ['Status', <Status status={run.status} />],
            ['Rows', `${whole(result.rows_written)} of ${whole(result.rows_total)}`],
            ['Size', bytes(result.bytes_written)],
            ['Verified', result.verified === null ? 'not yet' : result.verified ? 'yes' : 'no'],
            ['Finished', <Time at={run.finished_at} />],
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
          <ul className="space-y-0.5 font-mono text-xs break-all">
            {result.exported_files.map((file) => (
              <li key={file} className="flex items-center gap-1">
                {file}
                <CopyButton text={file} />
              </li>
            ))}
            {result.exported_files.length === 0 && <li className="text-muted">None yet.</li>}
          </ul>
        </div>
        {run.status === 'Failed' && (
          <Button icon="retry" disabled={retry.isPending} onClick={() => retry.mutate()}>
            Export this day again
          </Button>
        )}
      </div>
    </Dialog>
  );
}
