import { causesOf, describeThrown } from './thrown-values';

describe('describeThrown', () => {
  it('names an error, with its stack', () => {
    const error = new TypeError('broken');
    expect(describeThrown(error)).toEqual({ name: 'TypeError', message: 'broken', stack: error.stack });
  });

  it.each([
    ['a text', 'broken', 'broken'],
    ['nothing', undefined, 'undefined'],
    ['an object without a text', Object.create(null), 'The thrown value has no text'],
    ['an object whose text fails', { toString: () => Promise.reject.call(null) }, 'The thrown value has no text'],
    ['an object with a text of its own', { toString: () => 'broken' }, 'broken'],
    ['the body of an answer', { message: 'duplicate key', code: '23505' }, 'duplicate key'],
    ['an object without a message', { code: '23505', hint: null }, '{"code":"23505","hint":null}'],
    ['a revoked proxy', revoked(), 'The thrown value has no text'],
  ])('describes %s', (_, thrown, message) => {
    expect(describeThrown(thrown)).toEqual({ name: 'Error', message, stack: message });
  });

  it('returns texts for fields of other types', () => {
    class ToolError extends Error {}
    const error = Object.assign(new ToolError(), { name: ToolError, message: { detail: 'no' }, stack: 1 });
    expect(describeThrown(error)).toEqual({ name: 'Error', message: '[object Object]', stack: '[object Object]' });
  });

  it('survives fields that fail to be read', () => {
    const error = Object.defineProperty(new Error('x'), 'message', {
      get() {
        throw new Error('unreadable');
      },
    });
    expect(describeThrown(error)).toMatchObject({ name: 'Error', message: 'The thrown value has no text' });
  });

  it('cuts long texts', () => {
    expect(describeThrown(new Error('x'.repeat(200_000))).message).toHaveLength(100_000);
  });
});

describe('causesOf', () => {
  it('yields an error and its causes', () => {
    const cause = new Error('cause');
    const error = new Error('error', { cause });
    expect([...causesOf(error)]).toEqual([error, cause]);
    expect([...causesOf('text')]).toEqual([]);
  });

  it('ends for a circle, and for a cause that fails to be read', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    expect([...causesOf(circle)]).toContain(circle);
    const unreadable = Object.defineProperty(new Error('x'), 'cause', {
      get() {
        throw new Error('unreadable');
      },
    });
    expect([...causesOf(unreadable)]).toEqual([unreadable]);
  });
});

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
