import { PYTHON_SHAPE_GRAPHS, PYTHON_TEST_GRAPHS, SHAPE_GRAPHS, TEST_GRAPHS } from './gantry';

/**
 * A suite of cases for graphs in TypeScript, and for the same in Python: both projects have them by the same names. `shapes` are
 * the graphs of every shape.
 */
export const describeLanguages = describe.each([
  { language: 'TypeScript', graphs: TEST_GRAPHS, shapes: SHAPE_GRAPHS },
  { language: 'Python', graphs: PYTHON_TEST_GRAPHS, shapes: PYTHON_SHAPE_GRAPHS },
]);
