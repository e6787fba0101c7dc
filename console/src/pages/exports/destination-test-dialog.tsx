import { useQuery } from '@tanstack/react-query';
import { Button } from '../../ui/button';
import { ApiCall } from '../../ui/api-call';
import { Dialog } from '../../ui/dialog';
import { Loaded } from '../../ui/feedback';
import { Status } from '../../ui/status';
import { type Destination, destinationTestCall, type DestinationTest, testDestination } from './exports-api';

type Check = DestinationTest['checks'][number];

const OPERATIONS = { write: 'Write objects', read: 'Read objects', delete: 'Delete objects' };
const STATES = { passed: 'Permitted', failed: 'Missing', skipped: 'Not tested' };

function CheckItem({ check }: { check: Check }) {
  return (
    <li className="space-y-1 py-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium">{OPERATIONS[check.operation]}</span>
        {check.permission && <code className="font-mono text-xs text-muted">{check.permission}</code>}
        <span className="text-xs text-muted">{check.required ? 'required' : 'optional'}</span>
        <span className="ml-auto">
          <Status status={STATES[check.state]} />
        </span>
      </div>
      {check.error && (
        <p className="break-words text-bad">{`${check.error}${check.error_code ? ` (${check.error_code})` : ''}.`}</p>
      )}
      {check.error_hint && <p className="break-words text-soft">{check.error_hint}</p>}
      {check.consequence && <p className="text-soft">{`Without it: ${check.consequence}`}</p>}
    </li>
  );
}

/** Tests a stored destination, and shows what its credentials may do and what is missing. */
export function DestinationTestDialog({ destination, onClose }: { destination: Destination; onClose: () => void }) {
  // Each test writes to the bucket, so only the button repeats it.
  const query = useQuery({
    queryKey: ['destination-test', destination.id],
    queryFn: () => testDestination(destination.id),
    staleTime: Infinity,
    gcTime: 0,
  });
  return (
    <Dialog title={`Test of ${destination.display_name}`} open onClose={onClose}>
      <Loaded of={query}>
        {({ usable, complete, checks }) => (
          <>
            <p role="status" className="font-medium">
              {complete
                ? 'The destination permits everything that an export does.'
                : usable
                  ? 'Exports can be written, but something is missing.'
                  : 'Exports can’t be written to this destination.'}
            </p>
            <ul className="divide-y divide-line">
              {checks.map((check) => (
                <CheckItem key={check.operation} check={check} />
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <div className="flex items-center justify-end gap-2 pt-2">
        <ApiCall call={destinationTestCall(destination.id)} />
        <Button icon="retry" disabled={query.isFetching} onClick={() => void query.refetch()}>
          {query.isFetching ? 'Testing…' : 'Test again'}
        </Button>
      </div>
    </Dialog>
  );
}
