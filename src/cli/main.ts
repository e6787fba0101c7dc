import { join } from 'node:path';
import { runProgram } from '../config/compiled-code';

runProgram('cli', join(__dirname, 'cli'));
