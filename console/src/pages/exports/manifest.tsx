import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../../ui/copy-button';
import { Loaded } from '../../ui/feedback';
import { JsonView } from '../../ui/json-view';
import { bytes, whole } from '../../ui/numbers';
import { manifestQuery } from './exports-api';

/** The manifest of a complete export: its files with their checksums, and the whole of it. */
export function Manifest({ exportId }: { exportId: string }) {
  const query = useQuery(manifestQuery(exportId));
  return (
    <Loaded of={query} lines={2}>
      {(manifest) => (
        <div className="card overflow-x-auto">
          <table className="w-full text-left text-xs" aria-label="Files of the manifest">
            <thead className="border-b border-line text-muted">
              <tr>
                <th className="px-4 py-2 font-medium">File</th>
                <th className="px-2 py-2 text-right font-medium">Rows</th>
                <th className="px-2 py-2 text-right font-medium">Size</th>
                <th className="px-4 py-2 font-medium">MD5</th>
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {manifest.partitions
                .flatMap(({ files }) => files)
                .map((file) => (
                  <tr key={file.path}>
                    <td className="px-4 py-1.5 font-mono break-all">{file.path}</td>
                    <td className="px-2 py-1.5 text-right tabular-nums">{whole(file.rows)}</td>
                    <td className="px-2 py-1.5 text-right whitespace-nowrap tabular-nums">{bytes(file.bytes)}</td>
                    <td className="px-4 py-1.5 font-mono whitespace-nowrap">
                      {file.md5}
                      <CopyButton text={file.md5} label="Copy the checksum" />
                    </td>
                  </tr>
                ))}
            </tbody>
          </table>
          <details className="border-t border-line px-4 py-2">
            <summary className="text-xs text-muted">_manifest.json</summary>
            <JsonView value={manifest} open={1} />
          </details>
        </div>
      )}
    </Loaded>
  );
}
