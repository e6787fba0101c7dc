import { join } from 'node:path';
import { runProgram } from './config/compiled-code';

runProgram('api', join(__dirname, 'api'));
