import { PYTHON_TEST_GRAPHS, TEST_GRAPHS } from './gantry';

/** A suite of cases for graphs in TypeScript, and for the same in Python: both projects have them by the same names. */
export const describeLanguages = describe.each([
  { language: 'TypeScript', graphs: TEST_GRAPHS },
  { language: 'Python', graphs: PYTHON_TEST_GRAPHS },
]);
