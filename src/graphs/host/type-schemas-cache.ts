import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { graphRevision } from '../graph-revision';
import type { GraphSource } from '../graph-config';
import { resolveFrom } from './project-libraries';

const UID = process.getuid?.() ?? 0;
const FOLDER = join(tmpdir(), `gantry-${UID}`, 'graph-types');

/**
 * What the compiler read from graphs' types, kept for the next process on this machine: it computes for seconds about each
 * graph. An answer is good for as long as the project's code and its copy of LangGraph are the same; losing it loses time.
 */
export class TypeSchemasCache {
  private code: string | undefined;

  constructor(
    private readonly configPath: string,
    private readonly files: string[],
    private readonly folder = FOLDER,
  ) {}

  /** @returns the JSON text of an earlier answer, else that of `read`, which is kept unless it fails */
  async get(source: GraphSource, read: () => Promise<string>): Promise<string> {
    const path = join(this.folder, `${this.keyOf(source)}.json`);
    const known = this.known(path);
    if (known !== undefined) return known;
    const text = await read();
    this.keep(path, text);
    return text;
  }

  private keyOf({ file, exportName }: GraphSource): string {
    this.code ??= graphRevision(this.configPath, this.files);
    const library = resolveFrom(file, '@langchain/langgraph') ?? require.resolve('@langchain/langgraph');
    const parts = [this.code, file, exportName, library, statSync(library).mtimeMs];
    return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 32);
  }

  private known(path: string): string | undefined {
    try {
      // The folder for temporary files is everybody's.
      if (statSync(path).uid !== UID) return undefined;
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  }

  private keep(path: string, text: string): void {
    const draft = `${path}.${randomUUID()}`;
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(draft, text, { mode: 0o600 });
      renameSync(draft, path);
    } catch {
      // A read-only or full disk: the next process asks the compiler again.
    }
  }
}
