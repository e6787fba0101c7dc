import { join } from 'node:path';
import { runProgram } from '../src/config/compiled-code';

runProgram('worker', join(__dirname, 'worker'));
