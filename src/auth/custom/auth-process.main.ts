import { join } from 'node:path';
import { runProgram } from '../../config/compiled-code';

runProgram('auth-process', join(__dirname, 'auth-process'));
