import type { Chunk } from './chunk-facts';
import { unwrapDebug, withoutTaskModes } from './debug-modes';

describe('the modes of a LangGraph without `tasks` and `checkpoints`', () => {
  it('are requested as `debug`, once', () => {
    expect(withoutTaskModes(['tasks', 'values', 'debug', 'checkpoints'])).toEqual(['values', 'debug']);
  });

  const chunkOf = (type: string): Chunk => [['node:1'], 'debug', { type, step: 1, payload: { id: 'a' } }];

  it.each([
    ['checkpoint', 'checkpoints'],
    ['task', 'tasks'],
    ['task_result', 'tasks'],
  ])('are extracted from its %s events', (type, mode) => {
    const wanted = new Set(['tasks', 'checkpoints'] as const);
    expect([...unwrapDebug(chunkOf(type), wanted)]).toEqual([[['node:1'], mode, { id: 'a' }]]);
  });

  it('are left out unless they were requested, and so is `debug`', () => {
    expect([...unwrapDebug(chunkOf('checkpoint'), new Set(['tasks'] as const))]).toEqual([]);
    const both = [...unwrapDebug(chunkOf('task'), new Set(['tasks', 'debug'] as const))];
    expect(both.map(([, mode]) => mode)).toEqual(['tasks', 'debug']);
  });

  it('leave other chunks unchanged', () => {
    const values: Chunk = [[], 'values', { a: 1 }];
    expect([...unwrapDebug(values, new Set(['values'] as const))]).toEqual([values]);
  });
});
