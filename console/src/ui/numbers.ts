const grouped = new Intl.NumberFormat();
const compact = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 });

/** Formats a number with separators: `1,234,567`. */
export const whole = (value: number | null | undefined): string => (value == null ? '—' : grouped.format(value));

/** Formats a number in short, for narrow places: `1.2M`. */
export const short = (value: number | null | undefined): string => (value == null ? '—' : compact.format(value));

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** Formats bytes in powers of 1000, as disks and buckets are sold: `3.4 MB`. */
export function bytes(value: number | null | undefined): string {
  if (value == null) return '—';
  const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), BYTE_UNITS.length - 1);
  const scaled = value / 1000 ** power;
  return `${power === 0 ? scaled : scaled.toFixed(1)} ${BYTE_UNITS[power]}`;
}

/** Formats a fraction of one as a percentage: `12.5 %`. */
export const percent = (fraction: number | null | undefined): string =>
  fraction == null ? '—' : `${(fraction * 100).toFixed(fraction < 0.1 ? 1 : 0)} %`;

/** Formats costs, which for models are often fractions of a cent: `$0.0042`. */
export function dollars(value: number | string | null | undefined): string {
  if (value == null) return '—';
  const amount = Number(value);
  return `$${amount.toFixed(amount !== 0 && Math.abs(amount) < 0.1 ? 4 : 2)}`;
}
