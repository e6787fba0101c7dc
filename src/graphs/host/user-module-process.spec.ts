import { Logger } from '@nestjs/common';
import { javascriptProgram } from './user-code-program';
import { UserModuleProcess } from './user-module-process';
import { spawnUserCode } from './user-code-process';

describe('the process of a module', () => {
  afterEach(() => jest.useRealTimers());

  it('that never finishes loading leaves no question waiting', async () => {
    const idle = ['--eval', 'setInterval(() => undefined, 1_000)'];
    const module = new UserModuleProcess<{ type: 'question' }, unknown, string>(
      { ...javascriptProgram(''), start: (confinement) => spawnUserCode(process.execPath, idle, confinement) },
      { file: 'module.ts', exportName: 'module' },
      { env: {} },
      {
        name: 'module',
        setting: 'module.path',
        log: new Logger('Module'),
        failed: (why) => new Error(why),
        ended: () => new Error('has ended'),
        loading: () => new Error('is still being loaded'),
        late: () => new Error('is late'),
      },
    );
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    try {
      const refusal = expect(module.ask({ type: 'question' })).rejects.toThrow('is still being loaded');
      await jest.advanceTimersByTimeAsync(30_000);
      await refusal;
    } finally {
      await module.close();
    }
  });
});
