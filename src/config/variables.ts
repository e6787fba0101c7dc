import { isIP, isIPv4, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { z } from 'zod';
import { isPostgresUrl, POSTGRES_URL_RULE } from './postgres-url';

/** The values of a section's variables once they are read. */
export type Values<Variables extends z.ZodRawShape> = z.output<z.ZodObject<Variables>>;

declare module 'zod' {
  interface GlobalMeta {
    /** Default of a variable in the documentation, if the schema's is less informative. */
    shownDefault?: string;
  }
}

export const flag = z
  .enum(['on', 'off', 'true', 'false', '1', '0'])
  .transform((value) => value === 'on' || value === 'true' || value === '1');
export const port = z.coerce.number().int().min(0).max(65_535);
export const positiveInt = z.coerce.number().int().positive();
export const seconds = z.coerce.number().positive();

/** Longest time that a process waits for, in seconds: Node's timers end at 2^31 ms, and two of them may be added up. */
const MAX_WAIT_SECONDS = 1_000_000;
/** Upper limit of a setting that becomes a timer, in seconds. */
export const waitLimit = [MAX_WAIT_SECONDS, `must be at most ${MAX_WAIT_SECONDS} (11 days)`] as const;

const MAX_YEARS = 100;
/** Upper limit of a time limit or a retention, by its unit. Dates and durations much further away can't be computed with. */
export const yearsLimit = (perYear: number, years = MAX_YEARS) =>
  [years * perYear, `must be at most ${years * perYear} (${years} years)`] as const;
/** A file of the operator's, as seen from where the process was started: it works in the project's folder later. */
export const file = z
  .string()
  .min(1)
  .transform((path) => resolve(path));

/** Values separated by commas. */
export const list = z
  .string()
  .default('')
  .transform((value) =>
    value
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  );

/** An origin as browsers send it: nothing follows the host and the port. */
export const origin = z
  .string()
  .refine((value) => /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\\\s*]+$/i.test(value) && URL.canParse(value), {
    message: 'must be origins such as https://app.example.com, separated by commas',
  })
  .toLowerCase();

/** An address, a network, or `loopback`. */
function isAddressRange(range: string): boolean {
  const [address, bits, ...rest] = range.split('/');
  const version = isIP(address);
  if (range === 'loopback') return true;
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** Addresses and networks. */
export const addressRanges = list.refine((proxies) => proxies.every(isAddressRange), {
  message: 'must be addresses or networks such as 10.0.0.0/8, or loopback, separated by commas',
});

/** Whether a text is an IP address with a port; that of IPv6 is in brackets. */
export function isSocketAddress(text: string): boolean {
  const [, ipv4 = '', ipv6 = '', ownPort] = /^(?:([^[\]:]+)|\[(.+)\]):(\d{1,5})$/.exec(text) ?? [];
  return (isIPv4(ipv4) || isIPv6(ipv6)) && Number(ownPort) <= 65_535;
}

/** A 32-byte key written as base64: AES-256 takes exactly that much. */
export const masterKey = z.string().refine((value) => Buffer.from(value, 'base64').length === 32, {
  message: 'must be 32 random bytes in base64 (for example: openssl rand -base64 32)',
});

/** @param message says what would be right */
export const jsonText = (message: string) =>
  z.string().transform((value, context): unknown => {
    try {
      return JSON.parse(value);
    } catch {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
  });

/** A key that callers send. */
export const accessKey = z.string().min(16, 'must have 16 characters or more');

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' });

export const postgresUrl = z.string().refine(isPostgresUrl, POSTGRES_URL_RULE);

/** Whether only this machine reaches what listens on a host. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
