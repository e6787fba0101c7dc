import type { Readable } from 'node:stream';

/** Lines that are kept of a process. */
const KEPT_LINES = 400;

declare global {
  /** Outputs of the processes that this test file has started; test-environment.cjs shows them for a test that failed. */
  var gantryOutputs: KeptOutput[];
}

/** The last lines that a process of a test has written. */
export class KeptOutput {
  readonly lines: string[] = [];
  /** Number of lines written so far, those that are not kept any more among them. */
  written = 0;
  /** Number of lines that were shown, counted like those written. */
  shown = 0;
  /** Whether the process has closed its output, as it does when it ends. */
  isClosed = false;

  /** @param name says which process it is */
  constructor(
    readonly name: string,
    streams: (Readable | null)[],
  ) {
    for (const stream of streams) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.add(text));
      stream?.on('close', () => (this.isClosed = true));
    }
    // Scripts that record histories have none.
    globalThis.gantryOutputs?.push(this);
  }

  private add(text: string): void {
    const lines = text.split('\n').filter((line) => line !== '');
    this.lines.push(...lines);
    this.lines.splice(0, this.lines.length - KEPT_LINES);
    this.written += lines.length;
  }
}
