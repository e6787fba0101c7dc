import type { AnyGraph } from './graph-loader';

/**
 * Output of a graph that no checkpoint contains: values of the channel `UntrackedValue`, such as `structuredResponse` of an
 * agent. They are only in the last state that a run streams.
 */
export class UntrackedOutput {
  private last: Record<string, unknown> = {};

  private constructor(private readonly names: string[]) {}

  /** @returns undefined where the graph has no such output */
  static of({ outputChannels, channels }: AnyGraph): UntrackedOutput | undefined {
    const names = Array.isArray(outputChannels) ? outputChannels.map(String) : [];
    const untracked = names.filter((name) => isUntracked((channels as Record<string, unknown>)[name]));
    return untracked.length > 0 ? new UntrackedOutput(untracked) : undefined;
  }

  /** Takes a state that the run has streamed. */
  note(values: unknown): void {
    const state = (values ?? {}) as Record<string, unknown>;
    this.last = Object.fromEntries(this.names.filter((name) => name in state).map((name) => [name, state[name]]));
  }

  /** The values of a state together with this output. */
  withOutput(values: unknown): unknown {
    return Object.keys(this.last).length > 0 ? { ...(values as Record<string, unknown>), ...this.last } : values;
  }
}

// Duck-typed: the channel is of the project's copy of the library.
function isUntracked(channel: unknown): boolean {
  return (channel as { lc_graph_name?: unknown } | undefined)?.lc_graph_name === 'UntrackedValue';
}
