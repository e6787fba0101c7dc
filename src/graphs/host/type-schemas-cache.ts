import { createHash, randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { version as compilerVersion } from '@langchain/langgraph-api/package.json';
import { graphRevision } from '../graph-revision';
import type { GraphSource } from '../../config/langgraph-json';

const UID = process.getuid?.() ?? 0;
/** Where it is kept unless GANTRY_CACHE_FOLDER names another folder. */
const DEFAULT_FOLDER = join(tmpdir(), `gantry-${UID}`);

const LOCK_TOUCH_MS = 1_000;
/** A process that touched its lock this long ago has ended. */
const LOCK_STALE_MS = 10_000;
const LOCK_POLL_MS = 250;

/** The compiler's result, and the files that it read. */
export interface CompilerAnswer {
  schemas: string;
  files: string[];
}

interface Entry {
  schemas: string;
  /** File → hash of its content. */
  files: Record<string, string>;
}

/**
 * Cache of schemas that the compiler read from graphs' types, shared by processes on this machine, since each graph takes
 * seconds. An answer is good for as long as every file that the compiler read is the same, those of libraries included, and so
 * is the project's code; losing it loses time. Of several processes that need the same answer one asks the compiler.
 */
export class TypeSchemasCache {
  private readonly folder: string;
  private code: string | undefined;

  constructor(
    private readonly configPath: string,
    private readonly files: string[],
    folder = DEFAULT_FOLDER,
  ) {
    this.folder = join(folder, 'graph-types');
  }

  /** @returns the JSON text of an earlier answer, else that of `read`, which is kept unless it fails */
  async get(source: GraphSource, read: () => Promise<CompilerAnswer>): Promise<string> {
    const path = join(this.folder, `${this.keyOf(source)}.json`);
    for (;;) {
      const known = this.known(path);
      if (known !== undefined) return known;
      const release = this.lock(`${path}.lock`);
      if (!release) {
        await sleep(LOCK_POLL_MS);
        continue;
      }
      try {
        const { schemas, files } = await read();
        this.keep(path, { schemas, files: Object.fromEntries(files.map((file) => [file, hashOf(file)])) });
        return schemas;
      } finally {
        release();
      }
    }
  }

  private keyOf({ file, exportName }: GraphSource): string {
    this.code ??= graphRevision(this.configPath, this.files);
    return sha256([this.code, file, exportName, compilerVersion].join('\0')).slice(0, 32);
  }

  private known(path: string): string | undefined {
    try {
      // All users can write to the folder for temporary files.
      if (statSync(path).uid !== UID) return undefined;
      const { schemas, files } = JSON.parse(readFileSync(path, 'utf8')) as Entry;
      return Object.entries(files).every(([file, hash]) => hashOf(file) === hash) ? schemas : undefined;
    } catch {
      return undefined;
    }
  }

  private keep(path: string, entry: Entry): void {
    const draft = `${path}.${randomUUID()}`;
    try {
      writeFileSync(draft, JSON.stringify(entry), { mode: 0o600 });
      renameSync(draft, path);
    } catch {
      // A read-only or full disk: the next process asks the compiler again.
    }
  }

  /** @returns what releases the lock; undefined while another process has it */
  private lock(path: string): (() => void) | undefined {
    try {
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      writeFileSync(path, '', { flag: 'wx', mode: 0o600 });
    } catch (error) {
      // Where nothing can be kept, each process asks for itself.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return () => undefined;
      if (Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > LOCK_STALE_MS) remove(path);
      return undefined;
    }
    const touch = setInterval(() => touchIfThere(path), LOCK_TOUCH_MS).unref();
    return () => {
      clearInterval(touch);
      remove(path);
    };
  }
}

function touchIfThere(path: string): void {
  try {
    utimesSync(path, new Date(), new Date());
  } catch {
    // The folder was cleared, or a process that was held up has lost its lock: the answer is computed twice.
  }
}

const remove = (path: string): void => rmSync(path, { force: true });

const sha256 = (content: string | Buffer): string => createHash('sha256').update(content).digest('hex');

/** Empty for a file that isn't there. */
function hashOf(file: string): string {
  try {
    return sha256(readFileSync(file));
  } catch {
    return '';
  }
}
