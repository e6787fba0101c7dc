import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useUrlState } from '../../app/url-state';
import { Button, IconButton } from '../../ui/button';
import { Confirm } from '../../ui/dialog';
import { Empty, ErrorBox, Loading } from '../../ui/feedback';
import { Time } from '../../ui/time';
import { VirtualList } from '../../ui/virtual-list';
import { DestinationTestDialog } from './destination-test-dialog';
import { deleteDestination, type Destination, destinationsQuery, placeOf } from './exports-api';

/** Height in pixels that a row is assumed to have until it is rendered. */
const ROW_ESTIMATE = 64;
const KINDS = { s3: 'S3', gcs: 'Google Cloud Storage', azure_blob: 'Azure Blob Storage' };

/** Destinations of exports. Each was written to when it was created, and can be tested again. */
export function Destinations({ onCreate }: { onCreate: () => void }) {
  const query = useQuery(destinationsQuery);
  const client = useQueryClient();
  const [{ test }, change] = useUrlState();
  const [doomed, setDoomed] = useState<Destination>();
  if (query.error) return <ErrorBox error={query.error} retry={() => void query.refetch()} />;
  if (!query.data) return <Loading />;
  if (query.data.length === 0) {
    return (
      <Empty icon="exports" title="No destinations yet">
        <p className="mb-3">A destination is a bucket with the credentials to write to it.</p>
        <Button look="primary" onClick={onCreate}>
          New destination
        </Button>
      </Empty>
    );
  }
  const tested = query.data.find(({ id }) => id === test);
  return (
    <div className="h-full overflow-auto">
      <VirtualList items={query.data} keyOf={({ id }) => id} label="Destinations" estimate={ROW_ESTIMATE} gap={8}>
        {(destination) => (
          <div className="card flex items-center gap-4 px-4 py-3">
            <div className="min-w-0 flex-1">
              <p className="font-medium">{destination.display_name}</p>
              <p className="truncate font-mono text-xs text-muted">{placeOf(destination)}</p>
            </div>
            <span className="hidden text-muted sm:inline">{KINDS[destination.destination_type]}</span>
            <Time at={destination.created_at} />
            <Button
              small
              aria-label={`Test ${destination.display_name}`}
              onClick={() => change({ test: destination.id })}
            >
              Test
            </Button>
            <IconButton
              icon="trash"
              label={`Delete ${destination.display_name}`}
              onClick={() => setDoomed(destination)}
            />
          </div>
        )}
      </VirtualList>
      {tested && <DestinationTestDialog destination={tested} onClose={() => change({ test: undefined })} />}
      {doomed && (
        <Confirm
          title={`Delete ${doomed.display_name}?`}
          action="Delete destination"
          open
          onClose={() => setDoomed(undefined)}
          act={async () => {
            await deleteDestination(doomed.id);
            await client.invalidateQueries({ queryKey: destinationsQuery.queryKey });
          }}
        >
          Its credentials are removed here. Files that were exported stay in the bucket.
        </Confirm>
      )}
    </div>
  );
}
