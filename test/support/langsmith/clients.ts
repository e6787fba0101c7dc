import { PythonProcess } from '../python-process';
import { JavaScriptClient } from './javascript-client';

export interface Answer {
  sent: { method: string; url: string; body: unknown; status: number }[];
  failure: string | null;
}

/** The clients; `resources` are the parts that both Python clients have in common. */
export const LANGSMITH_CLIENTS = ['javascript', 'sync', 'async', 'resources'] as const;
export type LangSmithClientName = (typeof LANGSMITH_CLIENTS)[number];

/** The clients of LangSmith in both languages, whose methods are called by the names that Python gives them. */
export class LangSmithClients {
  private constructor(
    private readonly javascript: JavaScriptClient,
    private readonly python: PythonProcess<Record<string, Record<string, string[]>>>,
  ) {}

  static async start(apiUrl: string): Promise<LangSmithClients> {
    const python = await PythonProcess.start<Record<string, Record<string, string[]>>>('langsmith_contract.py', [
      apiUrl,
    ]);
    return new LangSmithClients(new JavaScriptClient(apiUrl), python);
  }

  /** Method → names of its parameters. */
  methods(client: LangSmithClientName): Record<string, string[]> {
    return client === 'javascript' ? this.javascript.methods : this.python.greeting[client];
  }

  call(client: LangSmithClientName, method: string, args: Record<string, unknown>): Promise<Answer> {
    return client === 'javascript' ? this.javascript.call(method, args) : this.python.ask({ client, method, args });
  }

  stop(): void {
    this.python.stop();
  }
}
