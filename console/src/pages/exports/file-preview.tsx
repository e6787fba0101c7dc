import { useQuery } from '@tanstack/react-query';
import { ApiCall } from '../../ui/api-call';
import { Loaded } from '../../ui/feedback';
import { bytes, whole } from '../../ui/numbers';
import { type ExportPreview, previewCall, previewFile } from './exports-api';

type Value = ExportPreview['rows'][number][string] | undefined;

/** Characters of a value in the table; the whole value is its title. */
const SHOWN = 80;

function Cell({ value }: { value: Value }) {
  if (value === null || value === undefined) return <span className="text-muted">null</span>;
  const text = String(value);
  return <span title={text}>{text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text}</span>;
}

function Rows({ of: { columns, rows, columns_left_out: leftOut } }: { of: ExportPreview }) {
  return (
    <div
      role="region"
      aria-label="Schema and first rows"
      tabIndex={0}
      className="max-h-96 overflow-auto rounded-lg border border-line"
    >
      <table className="w-max text-left text-xs">
        <thead className="sticky top-0 bg-sunken">
          <tr>
            {columns.map(({ name, type }) => (
              <th key={name} scope="col" className="px-3 py-2 align-top">
                {name}
                <span className="block font-mono font-normal text-muted">{type}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="font-mono">
          {rows.map((row, index) => (
            <tr key={index} className="border-t border-line">
              {columns.map(({ name }) => (
                <td key={name} className="max-w-80 truncate px-3 py-1.5">
                  {leftOut.includes(name) ? <span className="text-muted">too large</span> : <Cell value={row[name]} />}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Schema and first rows of a file in the bucket. */
export function FilePreview({ exportId, runId, file }: { exportId: string; runId: string; file: string }) {
  const query = useQuery({
    queryKey: ['exports', exportId, 'preview', runId, file],
    queryFn: () => previewFile(exportId, runId, file),
    staleTime: Infinity,
  });
  return (
    <section aria-label={`Preview of ${file.split('/').at(-1)}`}>
      <header className="mb-2 flex items-center gap-2">
        <h3 className="caps">Schema and first rows</h3>
        <span className="ml-auto">
          <ApiCall call={previewCall(exportId, runId, file)} />
        </span>
      </header>
      <Loaded of={query}>
        {(preview) => (
          <div className="space-y-2">
            <p className="text-soft">
              {`${whole(preview.rows_total)} rows in ${whole(preview.row_groups)} row groups, ${bytes(preview.bytes)}, ${preview.compression ?? 'no compression'}.`}
            </p>
            <Rows of={preview} />
          </div>
        )}
      </Loaded>
    </section>
  );
}
