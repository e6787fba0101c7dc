const { availableParallelism } = require('node:os');
const swc = require('./swc.config.json');

/** Only these packages ship ESM alone; everything else loads as CommonJS without a transform. */
const esmOnly = [
  '@nestjs',
  'jose',
  'cookie',
  'p-limit',
  'yocto-queue',
  'uuid',
  '@fastify/cors',
  'content-disposition',
  'hyparquet',
  'hyparquet-compressors',
  'hysnappy',
  '@remix-run',
];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: '<rootDir>/test/support/test-environment.cjs',
  roots: ['<rootDir>/src', '<rootDir>/activities', '<rootDir>/workflows', '<rootDir>/worker', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '<rootDir>/test/**/*.test.ts'],
  // Clients of other generations: `npm run chaos`.
  testPathIgnorePatterns: ['/node_modules/', ...(process.env.GANTRY_TEST_FULL ? [] : ['<rootDir>/test/nightly/'])],
  transform: {
    '^.+\\.[cm]?[tj]s$': [
      '@swc/jest',
      // Inside jest, modules are CommonJS throughout, imported dynamically or not.
      { ...swc, sourceMaps: 'inline', module: { type: 'commonjs' } },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  // For what nothing else ends: waitFor, a page and a start of a process give up after 90 s. A busy machine is no reason to fail.
  testTimeout: 180_000,
  testSequencer: '<rootDir>/test/longest-first.cjs',
  // A file with services waits for about half of its time: one more than there are cores keeps all of them busy.
  maxWorkers: Math.min(availableParallelism() + 1, 6),
};
