import { join } from 'node:path';
import { PYTHON_SHAPE_GRAPHS, PYTHON_TEST_GRAPHS, SHAPE_GRAPHS, TEST_GRAPHS } from './gantry';

/**
 * A suite of cases for graphs in TypeScript, and for the same in Python: both projects have them by the same names. `shapes` are
 * the graphs of every shape.
 */
export const describeLanguages = describe.each([
  { language: 'TypeScript', graphs: TEST_GRAPHS, shapes: SHAPE_GRAPHS },
  { language: 'Python', graphs: PYTHON_TEST_GRAPHS, shapes: PYTHON_SHAPE_GRAPHS },
]);

/** Projects for `describeInBothLanguages`: the examples, and graphs that crons run. */
export const EXAMPLES_IN_BOTH_LANGUAGES = join(__dirname, 'graphs', 'example-languages.json');
export const CRON_GRAPHS_IN_BOTH_LANGUAGES = join(__dirname, 'graphs', 'cron-languages.json');

/**
 * A suite of cases for graphs in TypeScript, and for the same in Python, in one project that has both and so needs one Gantry.
 * `named` gives the name of a graph in the suite's language.
 */
export const describeInBothLanguages = describe.each([
  { language: 'TypeScript', named: (graph: string) => graph },
  { language: 'Python', named: (graph: string) => `${graph}_python` },
]);
