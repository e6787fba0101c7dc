// Temporal's server as `npm start` runs it, until its parent ends or disconnects. Arguments: home, port.
import { findTemporal } from '../../scripts/services/binaries.mjs';
import { Supervisor } from '../../scripts/services/supervisor.mjs';
import { temporalPart } from '../../scripts/services/temporal.mjs';

const [home, port] = process.argv.slice(2);
const { signal } = new AbortController();
const supervisor = new Supervisor({ home, logs: home, signal });
const binary = await findTemporal(signal);
const { part } = temporalPart({
  home,
  binary,
  port: Number(port),
  uiPort: null,
  namespace: 'default',
  disposable: true,
});
process.once('disconnect', () => void supervisor.stop());
await supervisor.start(part);
process.send?.('ready');
