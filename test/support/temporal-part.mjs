// Prints, as JSON, how `npm start` runs its Temporal server: { command, args }. Arguments: home, port.
import { findTemporal } from '../../scripts/services/binaries.mjs';
import { temporalPart } from '../../scripts/services/temporal.mjs';

const [home, port] = process.argv.slice(2);
const binary = await findTemporal(new AbortController().signal);
const { part } = temporalPart({ home, binary, port: Number(port), uiPort: null, namespace: 'default' });
process.stdout.write(`\n${JSON.stringify({ command: part.command, args: part.args })}`);
