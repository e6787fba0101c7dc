import type { Chunk, ChunkWithFact } from './chunk-facts';
import { HandedBack, LeftGraphs } from './left-graphs';

const CHECKPOINT = { config: {}, values: {} };

/** A run that has left the graph `deep` of the task t2 in the graph `middle` of the task t1. */
function left(): LeftGraphs {
  const graphs = new LeftGraphs();
  graphs.add('middle:t1|deep:t2', 't2', new HandedBack(true));
  return graphs;
}

const token = (namespace: string): Chunk => [[], 'messages', [{}, { langgraph_checkpoint_ns: namespace }]];

describe('the graphs that a run has left', () => {
  it.each<[what: string, each: ChunkWithFact]>([
    ['the result of a node around one', { chunk: [[], 'updates', { middle: {} }], fact: 't1' }],
    [
      'the end of its own node',
      { chunk: [['middle:t1'], 'tasks', { id: 't2', name: 'deep', result: {} }], fact: 't2' },
    ],
    ['a state of the graph around it', { chunk: [['middle:t1'], 'values', {}] }],
    ['the questions of a step around it', { chunk: [[], 'updates', { __interrupt__: [] }] }],
    ['a state of the root', { chunk: [[], 'values', {}] }],
    ['a checkpoint of the root', { chunk: [[], 'checkpoints', CHECKPOINT] }],
    ['a checkpoint of the root, to debug', { chunk: [[], 'debug', { type: 'checkpoint', payload: CHECKPOINT }] }],
    ['the end of a node, to debug', { chunk: [[], 'debug', { type: 'task_result', payload: { id: 't1' } }] }],
    ['tokens of a node around it', { chunk: token('middle:t1') }],
    ['tokens of its own node', { chunk: token('middle:t1|deep:t2') }],
  ])('own %s', (_, each) => {
    expect(left().owns(each)).toBe(true);
  });

  it.each<[what: string, each: ChunkWithFact]>([
    ['the result of another node', { chunk: [[], 'updates', { other: {} }], fact: 't3' }],
    ['a state of a graph beside it', { chunk: [['other:t3'], 'values', {}] }],
    ['tokens of another node', { chunk: token('other:t3') }],
    ['custom output, which names no node', { chunk: [[], 'custom', 'half done'] }],
  ])('do not own %s', (_, each) => {
    expect(left().owns(each)).toBe(false);
  });

  it('know the task of a graph whose namespace does not name it', () => {
    const graphs = new LeftGraphs();
    graphs.add('stateful', 't1', new HandedBack(true));
    expect(graphs.hasInTask('t1')).toBe(true);
    expect(graphs.hasInside('')).toBe(true);
  });

  it('own nothing before one was left', () => {
    expect(new LeftGraphs().owns({ chunk: [[], 'values', {}] })).toBe(false);
  });
});
