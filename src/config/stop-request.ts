import { constants } from 'node:os';

/** Process events that ask for a stop. A supervisor's death, which disconnects, must not leave processes without one. */
const REQUESTS = ['SIGINT', 'SIGTERM', 'disconnect'] as const;

/**
 * Listens for requests to stop, and until the process has something to stop ends it at once. Called first of all: the first
 * process of a container gets no signal that it doesn't listen for.
 * @returns sets the graceful stop; each kind of request calls it once
 */
export function listenForStop(): (stop: () => void) => void {
  let stop: (() => void) | undefined;
  for (const request of REQUESTS) {
    const signal = request === 'disconnect' ? 'SIGTERM' : request;
    process.once(request, () => {
      if (stop) stop();
      else process.exit(128 + constants.signals[signal]);
    });
  }
  return (graceful) => {
    stop = graceful;
  };
}
