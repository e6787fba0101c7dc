import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../../ui/copy-button';
import { columnsOf, DataTable } from '../../ui/data-table';
import { Loaded } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { bytes, whole } from '../../ui/numbers';
import { type ExportManifest, manifestQuery } from './exports-api';

type ManifestFile = ExportManifest['partitions'][number]['files'][number];
const column = columnsOf<ManifestFile>();
const COLUMNS = [
  column.accessor('path', {
    header: 'File',
    meta: { width: 'minmax(12rem, 2fr)' },
    cell: ({ getValue }) => (
      <span className="font-mono text-xs" title={getValue()}>
        {getValue()}
      </span>
    ),
  }),
  column.accessor('rows', {
    header: 'Rows',
    meta: { width: '5rem', wideOnly: true },
    cell: ({ getValue }) => <span className="tabular-nums">{whole(getValue())}</span>,
  }),
  column.accessor('bytes', {
    header: 'Size',
    meta: { width: '5rem', wideOnly: true },
    cell: ({ getValue }) => <span className="tabular-nums">{bytes(getValue())}</span>,
  }),
  column.accessor('md5', {
    header: 'MD5',
    meta: { width: '20rem', wideOnly: true },
    cell: ({ getValue }) => (
      <>
        <span className="font-mono text-xs">{getValue()}</span>
        <CopyButton text={getValue()} label="Copy the checksum" />
      </>
    ),
  }),
];

/** The manifest of a complete export: its files with their checksums, and the whole of it. */
export function Manifest({ exportId }: { exportId: string }) {
  const query = useQuery(manifestQuery(exportId));
  return (
    <Loaded of={query} lines={2}>
      {(manifest) => (
        <div className="card overflow-hidden">
          <div className="flex max-h-96 flex-col">
            <DataTable
              label="Files of the manifest"
              rows={manifest.partitions.flatMap(({ files }) => files)}
              columns={COLUMNS as never}
              rowId={({ path }) => path}
              empty={<p className="px-4 py-2 text-muted">The export has no rows, and so no files.</p>}
            />
          </div>
          <details className="border-t border-line px-4 py-2">
            <summary className="text-xs text-muted">_manifest.json</summary>
            <JsonView value={manifest} open={1} />
          </details>
        </div>
      )}
    </Loaded>
  );
}
