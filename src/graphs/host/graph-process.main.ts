import { join } from 'node:path';
import { runProgram } from '../../config/compiled-code';

runProgram('graph-process', join(__dirname, 'graph-process'));
