import type { BlobRow, CheckpointRow, WriteRow } from './checkpoint-writes';
import { NewestCheckpoint } from './newest-checkpoint';

const blob = (channel: string, version: number, text = `"${channel}"`, ns = ''): BlobRow => [
  ...([ns, channel, String(version), 'json'] as const),
  Buffer.from(text),
];
const checkpoint = (id: string, versions: Record<string, number>, { ns = '', v = 4 } = {}): CheckpointRow => [
  ...([ns, id, null] as const),
  JSON.stringify({ v, id, channel_versions: versions }),
  '{"step":1}',
];
const write = (id: string, ns = ''): WriteRow => [ns, id, 'task', '', 0, 'a', 'json', Buffer.from('1')];

describe('the newest checkpoint', () => {
  const known = (newest: NewestCheckpoint) => {
    const found = newest.find();
    return found && { id: found.id, values: found.values.map(({ channel, blob: value }) => [channel, String(value)]) };
  };

  it('is known to be absent on a new thread alone', () => {
    expect(new NewestCheckpoint(true).find()).toBeNull();
    expect(new NewestCheckpoint(false).find()).toBeUndefined();
  });

  it('has the values in the versions that it names, whenever the run wrote them', () => {
    const newest = new NewestCheckpoint(false);
    newest.add({ blobs: [blob('a', 1), blob('b', 1)], writes: [], checkpoints: [checkpoint('1', { a: 1, b: 1 })] });
    newest.add({
      blobs: [blob('b', 2, '"new"')],
      writes: [write('1')],
      checkpoints: [checkpoint('2', { a: 1, b: 2 })],
    });
    expect(known(newest)).toEqual({
      id: '2',
      values: [
        ['a', '"a"'],
        ['b', '"new"'],
      ],
    });
    expect(newest.find()).toMatchObject({ parent: null, metadata: { step: 1 } });
  });

  it.each([
    ['a value is of an earlier run', checkpoint('1', { a: 1, earlier: 1 }), []],
    ['a value is of another version', checkpoint('1', { a: 1.5 }), []],
    ['a task has written since', checkpoint('1', { a: 1 }), [write('1')]],
    ['the format is an older one', checkpoint('1', { a: 1 }, { v: 3 }), []],
  ])('is unknown where %s', (_, row, writes) => {
    const newest = new NewestCheckpoint(true);
    newest.add({ blobs: [blob('a', 1)], writes, checkpoints: [row] });
    expect(newest.find()).toBeUndefined();
  });

  it('is that of the root graph', () => {
    const newest = new NewestCheckpoint(true);
    newest.add({ blobs: [blob('a', 1)], writes: [], checkpoints: [checkpoint('1', { a: 1 })] });
    newest.add({
      blobs: [blob('a', 1, '"nested"', 'node:1')],
      writes: [write('2', 'node:1')],
      checkpoints: [checkpoint('2', { a: 1 }, { ns: 'node:1' })],
    });
    expect(known(newest)).toEqual({ id: '1', values: [['a', '"a"']] });
  });

  it('is not kept once its values are large, until the run ends', () => {
    const newest = new NewestCheckpoint(true);
    const half = 'x'.repeat(40_000);
    newest.add({ blobs: [blob('a', 1, half)], writes: [], checkpoints: [checkpoint('1', { a: 1 })] });
    // Replaces the value, and doesn't add to it.
    newest.add({ blobs: [blob('a', 2, half)], writes: [], checkpoints: [checkpoint('2', { a: 2 })] });
    expect(newest.find()?.id).toBe('2');
    newest.add({ blobs: [blob('b', 1, half)], writes: [], checkpoints: [checkpoint('3', { a: 2, b: 1 })] });
    expect(newest.find()).toBeUndefined();
    newest.add({ blobs: [blob('a', 3), blob('b', 2)], writes: [], checkpoints: [checkpoint('4', { a: 3, b: 2 })] });
    expect(newest.find()).toBeUndefined();
  });
});
