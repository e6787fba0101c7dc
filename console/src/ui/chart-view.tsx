import 'uplot/dist/uPlot.min.css';
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { useStore } from '../app/external-store';
import { theme } from '../app/theme';
import type { ChartProps } from './chart';

const color = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--color-${name}`).trim();

/** Resolves a color of the theme, since a canvas doesn't understand light-dark(). */
function resolved(name: string): string {
  const probe = document.createElement('span');
  probe.style.color = color(name);
  document.body.append(probe);
  const text = getComputedStyle(probe).color;
  probe.remove();
  return text;
}

export default function ChartView({ times, series, height = 140, format = String, stacked = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const current = useStore(theme);
  useEffect(() => {
    const element = place.current!;
    const ink = resolved('muted');
    const grid = { stroke: resolved('line'), width: 1 };
    const bars = stacked ? uPlot.paths.bars!({ size: [0.8, 24] }) : undefined;
    const sums = series.map(({ values }, at) =>
      stacked
        ? values.map((_, index) => series.slice(at).reduce((sum, each) => sum + (each.values[index] ?? 0), 0))
        : values,
    );
    const chart = new uPlot(
      {
        width: element.clientWidth,
        height,
        padding: [8, 4, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { size: 5 } },
        axes: [
          { stroke: ink, grid: { show: false }, ticks: { show: false }, font: '11px "Inter Variable"', size: 36 },
          {
            stroke: ink,
            grid,
            ticks: { show: false },
            font: '11px "Inter Variable"',
            size: 48,
            values: (_, values) => values.map((value) => format(value)),
          },
        ],
        scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.1, 1e-9)] } },
        series: [
          {},
          ...series.map(({ name, tone }) => ({
            label: name,
            stroke: resolved(tone),
            fill: stacked ? resolved(tone) : undefined,
            width: stacked ? 0 : 1.5,
            spanGaps: true,
            // A single bucket has no line on either side, so it gets a point.
            points: { show: !stacked, size: 4, fill: resolved(tone) },
            ...(bars && { paths: bars }),
          })),
        ],
      },
      [times, ...sums] as uPlot.AlignedData,
      element,
    );
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [times, series, height, format, stacked, current]);
  return <div ref={place} className="w-full overflow-hidden" style={{ height }} />;
}
