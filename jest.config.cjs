/** Only these packages ship ESM alone; everything else loads as CommonJS without a transform. */
const esmOnly = ['@nestjs', 'cookie', 'uuid', '@fastify/cors'];

/** @type {import('jest').Config} */
module.exports = {
  testEnvironment: 'node',
  roots: ['<rootDir>/src', '<rootDir>/workflows', '<rootDir>/worker', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts', '<rootDir>/test/**/*.test.ts'],
  transform: {
    '^.+\\.[cm]?[tj]s$': [
      '@swc/jest',
      {
        sourceMaps: 'inline',
        module: { type: 'commonjs' },
        jsc: {
          target: 'es2023',
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true, decoratorMetadata: true },
        },
      },
    ],
  },
  transformIgnorePatterns: [`/node_modules/(?!(${esmOnly.join('|')})/)`],
  testTimeout: 60_000,
  maxWorkers: 2,
};
