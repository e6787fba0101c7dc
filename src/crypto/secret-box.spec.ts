import { randomBytes } from 'node:crypto';
import type { AppConfig } from '../config/config';
import { SecretBox } from './secret-box';

const [first, second] = [randomBytes(32), randomBytes(32)];
const box = (...sealingKeys: Buffer[]): SecretBox => new SecretBox({ sealingKeys } as unknown as AppConfig);

describe('sealed secrets', () => {
  it('open under any configured key, and are sealed under the first', () => {
    const old = box(first).seal('secret', 'row');
    const both = box(second, first);
    expect(both.open(old, 'row')).toBe('secret');
    const anew = both.seal('secret', 'row');
    expect(anew.startsWith(both.currentPrefix)).toBe(true);
    expect(old.startsWith(both.currentPrefix)).toBe(false);
    expect(box(second).open(anew, 'row')).toBe('secret');
    expect(() => box(second).open(old, 'row')).toThrow('GANTRY_SEALING_KEYS');
  });

  it('open in their own row only, and unchanged', () => {
    const sealed = box(first).seal('secret', 'row');
    expect(() => box(first).open(sealed, 'another row')).toThrow();
    expect(() => box(first).open(`${sealed.slice(0, -2)}AA`, 'row')).toThrow();
    expect(() => box(first).open('plain', 'row')).toThrow('Not a sealed secret');
  });
});
