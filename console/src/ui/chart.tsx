import { lazy, Suspense } from 'react';

const ChartView = lazy(() => import('./chart-view'));

export interface ChartProps {
  /** Description of the chart in one sentence, for screen readers. */
  label: string;
  /** Times in seconds since 1970, ascending. */
  times: number[];
  /** Series of the chart; `tone` is a color of the theme, such as `good`. */
  series: { name: string; tone: string; values: (number | null)[] }[];
  height?: number;
  format?: (value: number) => string;
  /** Draws stacked bars instead of lines. */
  stacked?: boolean;
}

/** The values of a chart for screen readers, without the times that have none. */
function Values({ label, times, series, format = String }: ChartProps) {
  const rows = times
    .map((time, index) => ({ time, values: series.map(({ values }) => values[index]) }))
    .filter(({ values }) => values.some(Boolean));
  return (
    <div className="sr-only">
      <table>
        <caption>{`${label}: values`}</caption>
        <thead>
          <tr>
            <th scope="col">From</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, values }) => (
            <tr key={time}>
              <th scope="row">{new Date(time * 1000).toLocaleString()}</th>
              {values.map((value, index) => (
                <td key={index}>{value == null ? 'none' : format(value)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A small chart over time. Its library is loaded when the first one is shown. */
export function Chart(props: ChartProps) {
  return (
    <div className="relative">
      <figure role="img" aria-label={props.label}>
        <Suspense fallback={<div style={{ height: props.height ?? 140 }} />}>
          <ChartView {...props} />
        </Suspense>
      </figure>
      <Values {...props} />
    </div>
  );
}
