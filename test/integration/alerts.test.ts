import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parser } from '@prometheus-io/lezer-promql';
import { load } from 'js-yaml';
import { CronMetrics } from '../../src/crons/cron.metrics';
import { ExportMetrics } from '../../src/exports/export.metrics';
import { Metrics } from '../../src/metrics/metrics';
import { RunMetrics } from '../../src/runs/run.metrics';
import { WebhookMetrics } from '../../src/webhooks/webhook.metrics';
import { startTestApi } from '../support/api';

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: Record<string, string>;
  annotations: { summary: string; description?: string };
}

const ROOT = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { groups } = load(read('docs/monitoring/alerts.yml')) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);

/** Errors that Prometheus' own grammar finds in an expression. */
function parse(expression: string): { faults: number; metrics: string[] } {
  let faults = 0;
  const metrics: string[] = [];
  parser.parse(expression).iterate({
    enter: ({ type, name, from, to }) => {
      if (type.isError) faults += 1;
      if (name === 'Identifier') metrics.push(expression.slice(from, to));
    },
  });
  return { faults, metrics };
}

describe('the example alert rules', () => {
  it.each(rules)('$alert is a rule as Prometheus reads it', (rule) => {
    expect(parse(rule.expr)).toMatchObject({
      faults: 0,
      metrics: [expect.any(String), ...parse(rule.expr).metrics.slice(1)],
    });
    expect(Object.keys(rule).filter((key) => !['alert', 'expr', 'for', 'labels', 'annotations'].includes(key))).toEqual(
      [],
    );
    if (rule.for !== undefined) expect(rule.for).toMatch(/^\d+[smh]$/);
    expect(rule.labels.severity).toMatch(/^(page|ticket)$/);
    expect(rule.annotations.summary).toBeTruthy();
  });

  it('are checked against a wrong expression', () => {
    expect(parse('sum(rate(gantry_runs_ended_total[5m])').faults).toBeGreaterThan(0);
  });

  it('use metrics that exist', async () => {
    const api = await startTestApi();
    try {
      const ofApi = api.app.get(Metrics).registry;
      const ofWorker = new Metrics(api.config);
      for (const Declared of [RunMetrics, WebhookMetrics, ExportMetrics, CronMetrics]) new Declared(ofWorker);
      const known = new Set(
        [...ofApi.getMetricsAsArray(), ...ofWorker.registry.getMetricsAsArray()].map(({ name }) => name),
      );
      for (const { alert, expr } of rules) {
        const unknown = parse(expr).metrics.filter((name) => !known.has(name.replace(/_bucket$/, '')));
        expect([alert, unknown]).toEqual([alert, []]);
      }
      // The page that lists the alerts has all of them.
      const page = read('docs/metrics.md');
      for (const name of known)
        if (name.startsWith('gantry_') && !/_(database_pool|export)_/.test(name)) expect(page).toContain(name);
    } finally {
      await api.close();
    }
  });

  it('are each explained to operators', () => {
    const page = read('docs/operations.md');
    for (const { alert } of rules) expect(page).toContain(`\`${alert}\``);
  });
});
