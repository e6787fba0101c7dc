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

/** A small chart over time. Its library is loaded when the first one is shown. */
export function Chart(props: ChartProps) {
  return (
    <figure role="img" aria-label={props.label}>
      <Suspense fallback={<div style={{ height: props.height ?? 140 }} />}>
        <ChartView {...props} />
      </Suspense>
    </figure>
  );
}
