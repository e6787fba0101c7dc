import { randomBytes } from 'node:crypto';
import type { AppConfig } from '../config/config';
import { SecretBox, UnknownSealingKey } from './secret-box';
import { SecretValues } from './secret-values';
import type { SealingContext } from './sealed-fields';

const [first, second] = [randomBytes(32), randomBytes(32)];
const ROW = 'row' as SealingContext;
const box = (...sealingKeys: Buffer[]): SecretBox =>
  new SecretBox({ secrets: { sealingKeys } } as unknown as AppConfig);

describe('sealed secrets', () => {
  it('open under any configured key, and are sealed under the first one', () => {
    const old = box(first).seal('secret', ROW);
    const both = box(second, first);
    expect(both.open(old, ROW)).toBe('secret');
    const again = both.seal('secret', ROW);
    expect(again.startsWith(both.currentPrefix)).toBe(true);
    expect(old.startsWith(both.currentPrefix)).toBe(false);
    expect(box(second).open(again, ROW)).toBe('secret');
    expect(() => box(second).open(old, ROW)).toThrow('GANTRY_SEALING_KEYS');
  });

  it('are carried by a process that lacks their key to one that has it', () => {
    const sealed = box(second).seal('secret', ROW);
    const carried = box(first).openOrCarry(sealed, ROW)!;
    expect(carried).not.toContain('secret');
    expect(() => box(first).openCarried(carried)).toThrow(UnknownSealingKey);
    expect(box(second).openCarried(carried)).toBe('secret');
    expect(box(second).openCarried(box(second).openOrCarry(sealed, ROW)!)).toBe('secret');
    expect(box(first).openOrCarry('plain', ROW)).toBeUndefined();
  });

  it('stay as they are inside of JSON where their key is missing, and are not taken for what they conceal', () => {
    const values = new SecretValues(box(second)).seal('tenant', { api_key: 'secret' });
    const other = new SecretValues(box(first));
    expect(other.seal('tenant', values)).toEqual(values);
    expect(() => other.open('tenant', values)).toThrow(UnknownSealingKey);
    const lookalike = { api_key: 'gantry-sealed:x' };
    expect(other.open('tenant', other.seal('tenant', lookalike))).toEqual(lookalike);
  });

  it('open in their own row only, and unmodified', () => {
    const sealed = box(first).seal('secret', ROW);
    expect(() => box(first).open(sealed, 'another row' as SealingContext)).toThrow();
    expect(() => box(first).open(`${sealed.slice(0, -2)}AA`, ROW)).toThrow();
    expect(() => box(first).open('plain', ROW)).toThrow('Not a sealed secret');
  });
});
