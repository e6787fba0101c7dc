import { existsSync, readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse as parseDotenv } from 'dotenv';
import type { ProjectFile } from './langgraph-json';
import { SECRET_SETTINGS } from './secret-settings';

/**
 * Where the deployment keeps its data and sends its telemetry is said by its own environment alone: applications have a DATABASE_URL
 * and a collector of their own in such files, and the exporter reads nothing but the environment of the process.
 */
const isOfTheDeployment = (name: string): boolean =>
  name === 'GANTRY_CONFIG' || /^(TEMPORAL|OTEL)_/.test(name) || SECRET_SETTINGS.includes(name);

/**
 * Gantry's own settings in `env` of langgraph.json, a map or the name of a file. The environment of the process overrides them.
 * A missing or invalid file is ignored here, since the reader of the graphs reports it.
 * @param names of all settings
 */
export function projectSettings(project: ProjectFile, names: readonly string[]): Record<string, string> {
  const env = envOf(project);
  return Object.fromEntries(
    Object.entries(env).filter(([name, value]) => value !== '' && names.includes(name) && !isOfTheDeployment(name)),
  );
}

/** Whether langgraph.json has the section `encryption`; what is wrong with it is reported by the reader of the graphs. */
export function namesEncryption({ text }: ProjectFile): boolean {
  try {
    return Boolean((JSON.parse(text ?? '{}') as { encryption?: unknown }).encryption);
  } catch {
    return false;
  }
}

function envOf({ path, text }: ProjectFile): Record<string, string> {
  try {
    const { env } = JSON.parse(text ?? '{}') as { env?: unknown };
    if (typeof env === 'string') {
      const file = resolve(dirname(path), env);
      return existsSync(file) ? parseDotenv(readFileSync(file)) : {};
    }
    const entries = Object.entries((env ?? {}) as Record<string, unknown>);
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
  } catch {
    return {};
  }
}
