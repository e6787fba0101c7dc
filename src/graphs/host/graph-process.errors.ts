/** The attempt rather than the graph failed: it can be repeated, and does nothing if another worker owns the run. */
export class ExecutionBroken extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ExecutionBroken';
  }
}

export const stopping = (): ExecutionBroken => new ExecutionBroken('The process is about to stop');

/** The host of the attempt died: this run or another one in it is the cause. */
export class HostLost extends ExecutionBroken {
  constructor() {
    super('The graph process ended before the run did');
    this.name = 'HostLost';
  }
}

/** The graph's code refused a call: an unknown node, values that don't fit the state. */
export class GraphCallRefused extends Error {
  constructor(
    message: string,
    readonly errorName: string,
  ) {
    super(message);
    this.name = 'GraphCallRefused';
  }
}
