import { ChunkFacts, type Chunk } from './chunk-facts';

const checkpoint = (id: string) => ({ config: { configurable: { checkpoint_id: id } } });
const ended = (id: string) => ({ id, name: 'node', result: {}, interrupts: [] });

function emitted(chunks: Chunk[]): [mode: string, fact: string | undefined][] {
  const facts = new ChunkFacts();
  const found = [...chunks.flatMap((chunk) => [...facts.next(chunk)]), ...facts.rest()];
  return found.map(({ chunk, fact }) => [chunk[1], fact]);
}

describe('ChunkFacts', () => {
  it('identifies values by the checkpoint that follows them, and updates by the end of their task', () => {
    const chunks: Chunk[] = [
      [[], 'values', {}],
      [[], 'checkpoints', checkpoint('c1')],
      [[], 'tasks', { id: 't1', input: {} }],
      [[], 'updates', { node: {} }],
      [[], 'tasks', ended('t1')],
    ];
    expect(emitted(chunks)).toEqual([
      ['values', 'c1'],
      ['checkpoints', undefined],
      ['tasks', undefined],
      ['updates', 't1'],
      ['tasks', 't1'],
    ]);
  });

  it('distinguishes nested graphs whose chunks are interleaved', () => {
    const nested = ['child:1'];
    const chunks: Chunk[] = [
      [[], 'values', {}],
      [nested, 'values', {}],
      [[], 'checkpoints', checkpoint('root')],
      [nested, 'checkpoints', checkpoint('nested')],
    ];
    expect(emitted(chunks).filter(([mode]) => mode === 'values')).toEqual([
      ['values', 'root'],
      ['values', 'nested'],
    ]);
  });

  it('emits the last values of a nested graph without checkpoints before the end of its task, not those of others', () => {
    const facts = new ChunkFacts();
    const chunks: Chunk[] = [
      [['node:t1', 'deep:t3'], 'values', {}],
      [['node:t1'], 'values', {}],
      [['node:t2'], 'values', {}],
      [[], 'updates', { node: {} }],
      [[], 'tasks', ended('t1')],
    ];
    const released = chunks.flatMap((chunk) => [...facts.next(chunk)]);
    expect(released.map(({ chunk: [path, mode], fact }) => [path.join('|'), mode, fact])).toEqual([
      ['node:t1|deep:t3', 'values', undefined],
      ['node:t1', 'values', undefined],
      ['', 'updates', 't1'],
      ['', 'tasks', 't1'],
    ]);
    expect([...facts.rest()].map(({ chunk }) => chunk[0])).toEqual([['node:t2']]);
  });

  it('holds back neither questions nor cached results of an earlier attempt, and loses nothing', () => {
    const chunks: Chunk[] = [
      [[], 'updates', { node: {}, __metadata__: { cached: true } }],
      [[], 'updates', { __interrupt__: [] }],
      [[], 'values', { __interrupt__: [] }],
    ];
    expect(emitted(chunks)).toEqual([
      ['updates', undefined],
      ['updates', undefined],
      ['values', undefined],
    ]);
  });
});
