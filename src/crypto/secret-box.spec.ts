import { randomBytes } from 'node:crypto';
import type { AppConfig } from '../config/config';
import { SecretBox } from './secret-box';
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

  it('open in their own row only, and unmodified', () => {
    const sealed = box(first).seal('secret', ROW);
    expect(() => box(first).open(sealed, 'another row' as SealingContext)).toThrow();
    expect(() => box(first).open(`${sealed.slice(0, -2)}AA`, ROW)).toThrow();
    expect(() => box(first).open('plain', ROW)).toThrow('Not a sealed secret');
  });
});
