import { createTestDatabase, type TestDatabase } from './database';
import { API_PROGRAM, GantryProcess } from './gantry-process';
import { freePort } from './ports';
import { testVariables } from './variables';

/** An api of a test that asks it by HTTP alone. */
export interface ApiProcess {
  database: TestDatabase;
  /** Its address: loopback, on a free port. */
  url: string;
  close(): Promise<void>;
}

/**
 * An api as a process of its own, on a database of its own. It takes a second of processor time until it listens, and
 * `startTestApi` three, of which jest needs most to load the api's modules.
 * @param overrides environment variables
 * @param existing database to use instead of one of its own; dropped at the end as well
 */
export async function startApiProcess(
  overrides: Record<string, string> = {},
  existing?: TestDatabase,
): Promise<ApiProcess> {
  const [database, port] = await Promise.all([existing ?? createTestDatabase(), freePort()]);
  const url = `http://127.0.0.1:${port}`;
  const variables = testVariables(database.url, { GANTRY_PORT: String(port), GANTRY_API_URL: url, ...overrides });
  try {
    const api = await GantryProcess.start('api', API_PROGRAM, { ...variables, GANTRY_LOG_LEVEL: 'info' });
    return {
      database,
      url,
      close: async () => {
        await api.kill('SIGKILL');
        await database.drop();
      },
    };
  } catch (error) {
    await database.drop();
    throw error;
  }
}
