import { join } from 'node:path';
import { runProgram } from '../config/compiled-code';

runProgram('app-process', join(__dirname, 'app-process'));
