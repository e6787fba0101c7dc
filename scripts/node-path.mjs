// node scripts/node-path.mjs: prints the directory of the Node that Gantry runs on, for a shell's PATH.
import { dirname } from 'node:path';
import './services/runtime.mjs';

process.stdout.write(`${dirname(process.execPath)}\n`);
