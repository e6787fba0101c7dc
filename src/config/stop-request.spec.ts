import { listenForStop } from './stop-request';

describe('listenForStop', () => {
  let exit: jest.SpyInstance;

  beforeEach(() => {
    exit = jest.spyOn(process, 'exit').mockReturnValue(undefined as never);
  });
  afterEach(() => {
    exit.mockRestore();
    for (const request of ['SIGINT', 'SIGTERM', 'disconnect']) process.removeAllListeners(request);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['disconnect', 143],
  ])('ends a process that gets %s during its start with %i', (request, code) => {
    listenForStop();
    process.emit(request as 'disconnect');
    expect(exit.mock.calls).toEqual([[code]]);
  });

  it('stops gracefully from then on', () => {
    const stop = jest.fn();
    listenForStop()(stop);
    process.emit('disconnect');
    expect(stop).toHaveBeenCalledTimes(1);
    expect(exit).not.toHaveBeenCalled();
  });
});
