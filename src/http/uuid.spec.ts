import { z } from 'zod';
import { isUuid, uuid } from './uuid';

const DERIVED = '00000000-0000-0000-0000-000000000001';
const LOWER = 'd41d8cd9-8f00-b204-e980-0998ecf8427e';

describe('ids in requests', () => {
  it('become lower case, as the database returns them', () => {
    expect(uuid.parse(LOWER.toUpperCase())).toBe(LOWER);
    expect(uuid.parse(LOWER)).toBe(LOWER);
  });

  it('are of any version and variant', () => {
    for (const id of [DERIVED, LOWER, LOWER.toUpperCase()]) {
      expect(uuid.parse(id)).toBe(id.toLowerCase());
      expect(isUuid(id)).toBe(true);
    }
  });

  it('are nothing else', () => {
    for (const text of ['', 'agent', `${LOWER}0`, `{${LOWER}}`, LOWER.replaceAll('-', '')]) {
      expect(isUuid(text)).toBe(false);
      expect(uuid.safeParse(text).error?.issues[0].message).toBe('must be a UUID');
    }
  });

  it('are described as what they are', () => {
    for (const io of ['input', 'output'] as const) {
      expect(z.toJSONSchema(uuid, { io })).toMatchObject({ type: 'string', format: 'uuid' });
    }
  });
});
