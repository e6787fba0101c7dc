// eslint-disable-next-line @typescript-eslint/no-require-imports -- the package has no types
const parse = require('parse-prometheus-text-format') as (text: string) => Family[];

interface Family {
  name: string;
  help: string;
  type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED';
  metrics: { labels?: Record<string, string>; value?: string }[];
}

/** An exposition in the Prometheus text format, read by a parser that is not ours. */
export class Exposition {
  readonly families: Map<string, Family>;

  constructor(readonly text: string) {
    this.families = new Map(parse(text).map((family) => [family.name, family]));
  }

  static async get(url: string, headers: Record<string, string> = {}): Promise<Exposition> {
    const response = await fetch(url, { headers });
    if (response.status !== 200) throw new Error(`${url} answers ${response.status}`);
    return new Exposition(await response.text());
  }

  /** The sum of the series that have these labels; of a histogram, its observations. Undefined when there is none. */
  value(name: string, labels: Record<string, string> = {}): number | undefined {
    // The parser merges the histograms of all labels, so their counts are read from the lines.
    if (this.families.get(name)?.type === 'HISTOGRAM') return this.valueOfLines(`${name}_count`, labels);
    const matches = (this.families.get(name)?.metrics ?? []).filter((metric) =>
      Object.entries(labels).every(([label, value]) => metric.labels?.[label] === value),
    );
    if (matches.length === 0) return undefined;
    return matches.reduce((sum, { value }) => sum + Number(value), 0);
  }

  /** Every label of every series. */
  labels(): string[] {
    return [...this.families.values()].flatMap(({ metrics }) =>
      metrics.flatMap(({ labels }) => Object.values(labels ?? {})),
    );
  }

  private valueOfLines(series: string, labels: Record<string, string>): number | undefined {
    const values = this.text
      .split('\n')
      .filter((line) => line.startsWith(`${series}{`) || line.startsWith(`${series} `))
      .filter((line) => Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
      .map((line) => Number(line.slice(line.lastIndexOf(' '))));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }
}
