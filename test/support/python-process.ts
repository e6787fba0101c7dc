import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { testPython } from './python';

const FOLDER = join(__dirname, '..', 'python');

/** A script of test/python that takes orders as lines of JSON on stdin and answers each with a line of JSON. */
export class PythonProcess<Greeting> {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    /** First line that it printed. */
    readonly greeting: Greeting,
  ) {}

  static async start<Greeting>(script: string, args: string[]): Promise<PythonProcess<Greeting>> {
    const env = { PATH: process.env.PATH };
    const child = spawn(testPython(), [join(FOLDER, script), ...args], { stdio: ['pipe', 'pipe', 'inherit'], env });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return new PythonProcess(child, lines, parse(await lines.next()) as Greeting);
  }

  /** @throws if the process ended */
  async ask<Answer>(order: object): Promise<Answer> {
    this.child.stdin!.write(`${JSON.stringify(order)}\n`);
    return parse(await this.lines.next()) as Answer;
  }

  stop(): void {
    this.child.stdin!.end();
  }
}

function parse({ done, value }: IteratorResult<string, unknown>): unknown {
  if (done) throw new Error('The Python clients ended');
  return JSON.parse(value) as unknown;
}
