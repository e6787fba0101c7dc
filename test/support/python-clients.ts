import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { testPython } from './python';

const SCRIPT = join(__dirname, '..', 'python', 'contract_client.py');

export const PYTHON_CLIENTS = ['async', 'sync'] as const;
export type PythonClientName = (typeof PYTHON_CLIENTS)[number];

interface Order {
  client: PythonClientName;
  method: string;
  /** By name. */
  args: Record<string, unknown>;
  /** How many events of a stream are enough. */
  events?: number;
}

export interface PythonAnswer {
  sent: { method: string; url: string; body: unknown; headers: Record<string, string>; status: number }[];
  failure: string | null;
}

/** Method → names of its parameters, by client. */
type Signatures = Record<PythonClientName, Record<string, string[]>>;

/** Both public Python clients in one process, which calls their methods one by one. */
export class PythonClients {
  private constructor(
    private readonly child: ChildProcess,
    private readonly lines: AsyncIterator<string>,
    readonly methods: Signatures,
    /** Of a thread's stream. */
    readonly commands: Signatures,
  ) {}

  static async start(apiUrl: string): Promise<PythonClients> {
    const env = { PATH: process.env.PATH };
    const child = spawn(testPython(), [SCRIPT, apiUrl], { stdio: ['pipe', 'pipe', 'inherit'], env });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { methods, commands } = parse((await lines.next()) as IteratorResult<string>) as {
      methods: Signatures;
      commands: Signatures;
    };
    return new PythonClients(child, lines, methods, commands);
  }

  async call(order: Order): Promise<PythonAnswer> {
    this.child.stdin!.write(`${JSON.stringify(order)}\n`);
    return parse((await this.lines.next()) as IteratorResult<string>) as PythonAnswer;
  }

  stop(): void {
    this.child.stdin!.end();
  }
}

function parse({ done, value }: IteratorResult<string>): unknown {
  if (done) throw new Error('The Python clients ended');
  return JSON.parse(value) as unknown;
}
