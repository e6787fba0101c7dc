import { AppConfig } from '../config/config';
import { asOwner } from '../database/logins';
import { checkGraphLogin } from '../database/tenant-isolation';
import { confirmSecretKey } from './secret-key-check';

/**
 * Makes sure, before a process uses a database, that it has the database's key and that its login for graph processes is the one that
 * keeps tenants apart.
 * @throws {Error} with what to do
 */
export async function confirmDatabase({ database, secrets }: AppConfig): Promise<void> {
  await asOwner(database.url, async (client) => {
    await confirmSecretKey(client, secrets.key);
    await checkGraphLogin(client, database.graphsUrl);
  });
}
