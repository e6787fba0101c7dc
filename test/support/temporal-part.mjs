// Prints, as JSON, how `npm start` runs its Temporal server: { command, args }. Arguments: home, port, port of the UI.
import { findTemporal } from '../../scripts/services/binaries.mjs';
import { temporalPart } from '../../scripts/services/temporal.mjs';

const [home, port, uiPort] = process.argv.slice(2);
const binary = await findTemporal(new AbortController().signal);
const { part } = temporalPart({ home, binary, port: Number(port), uiPort: Number(uiPort), namespace: 'default' });
process.stdout.write(`\n${JSON.stringify({ command: part.command, args: part.args })}`);
