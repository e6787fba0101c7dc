// Prints, as JSON, how `npm start` runs its Postgres server. Arguments: home, port, password.
import { postgresPart } from '../../scripts/services/postgres.mjs';

const [home, port, password] = process.argv.slice(2);
const { part, url } = await postgresPart({ home, port: Number(port), password });
const { command, args, cwd, uid, gid } = part;
process.stdout.write(`\n${JSON.stringify({ command, args, cwd, uid, gid, url })}`);
