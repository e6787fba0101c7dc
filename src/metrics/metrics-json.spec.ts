import { Counter, Histogram, Registry } from 'prom-client';
import { toMetricFamilies } from './metrics-json';

describe('metrics as JSON', () => {
  it('have a value for each set of labels, and the observations of a histogram', async () => {
    const registry = new Registry();
    const counter = new Counter({ name: 'a_total', help: 'As', labelNames: ['kind'], registers: [registry] });
    counter.inc({ kind: 'x' }, 2);
    counter.inc({ kind: 'y' });
    const options = { name: 'b_seconds', help: 'Bs', labelNames: ['graph'], buckets: [1, 5], registers: [registry] };
    const histogram = new Histogram(options);
    for (const seconds of [0.5, 3, 9]) histogram.observe({ graph: 'g' }, seconds);
    expect(toMetricFamilies(await registry.getMetricsAsJSON())).toEqual({
      a_total: {
        type: 'counter',
        help: 'As',
        series: [
          { labels: { kind: 'x' }, value: 2 },
          { labels: { kind: 'y' }, value: 1 },
        ],
      },
      b_seconds: {
        type: 'histogram',
        help: 'Bs',
        series: [{ labels: { graph: 'g' }, count: 3, sum: 12.5, buckets: { '1': 1, '5': 2, '+Inf': 3 } }],
      },
    });
  });
});
