import { lazy, Suspense } from 'react';

const ChartView = lazy(() => import('./chart-view'));

export interface ChartProps {
  /** What the chart shows, in a sentence for screen readers. */
  label: string;
  /** Seconds since 1970, rising. */
  times: number[];
  /** `tone`: a color of the theme, such as `good`. */
  series: { name: string; tone: string; values: (number | null)[] }[];
  height?: number;
  format?: (value: number) => string;
  /** Bars on top of each other instead of lines. */
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
