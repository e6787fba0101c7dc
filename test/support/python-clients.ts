import { PythonProcess } from './python-process';

export const PYTHON_CLIENTS = ['async', 'sync'] as const;
export type PythonClientName = (typeof PYTHON_CLIENTS)[number];

interface Order {
  client: PythonClientName;
  method: string;
  /** Arguments by name. */
  args: Record<string, unknown>;
  /** Number of events to read from a stream. */
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
  private constructor(private readonly process: PythonProcess<{ methods: Signatures; commands: Signatures }>) {}

  static async start(apiUrl: string): Promise<PythonClients> {
    return new PythonClients(await PythonProcess.start('contract_client.py', [apiUrl]));
  }

  get methods(): Signatures {
    return this.process.greeting.methods;
  }

  /** Commands of a thread's stream. */
  get commands(): Signatures {
    return this.process.greeting.commands;
  }

  call(order: Order): Promise<PythonAnswer> {
    return this.process.ask(order);
  }

  stop(): void {
    this.process.stop();
  }
}
