import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

/** Paths that a layer must not import, each with the rule that it would break. */
function forbid(...rules) {
  const patterns = rules.map(([paths, message, allowTypeImports = false]) => ({
    ...(typeof paths === 'string' ? { regex: paths } : { group: paths }),
    message,
    allowTypeImports,
  }));
  return { 'no-restricted-imports': 'off', '@typescript-eslint/no-restricted-imports': ['error', { patterns }] };
}

const noTemporalClient = [['@temporalio/client'], 'Only src/temporal holds a Temporal client: use an orchestrator.'];
const noWorkflowCode = [['**/workflows/*.workflow'], 'Processes load workflows as a bundle, never as code.', true];
const noProcesses = ['^\\.{1,2}/(.*/)?(activities|worker)/', 'Imports point from the processes to src, not back.'];
const noDeepImports = [
  '^(@[^/]+/[^/]+|[^./@][^/]*)/(lib|dist|src|esm|cjs|build|internal|helpers|injector|driver|constants)(/|$)',
  "Only src/patches imports a library's internals.",
];
const noLibraryInternals = [
  {
    selector: "ImportDeclaration[source.value='@nestjs/swagger'] ImportSpecifier[imported.name='ApiTags']",
    message: 'RouteTags tags routes, so that langgraph.json can switch them off.',
  },
  {
    selector: 'TSAsExpression > TSAsExpression > TSUnknownKeyword',
    message: 'Only src/patches reads what the types of a library hide. For other casts, declare the type that holds.',
  },
  {
    selector: "MemberExpression[computed=false][property.name='prototype'][object.name!='Function']",
    message: 'Only src/patches changes prototypes.',
  },
  {
    selector:
      "MemberExpression[property.name=/^_(?!meta$)[a-z]/i][object.type!='Super'], ObjectPattern > Property[key.name=/^_(?!meta$)[a-z]/i]",
    message: 'Only src/patches uses members that a library keeps for itself.',
  },
];
const SOURCE = ['src/**/*.ts', 'workflows/**/*.ts', 'activities/**/*.ts', 'worker/**/*.ts'];
const TOOLS = ['scripts/**/*.mjs', 'test/support/**/*.ts', 'test/bench/**/*.mjs'];
/** Above these, a file or a class does more than one thing. */
const MAX_LINES = 350;
const MAX_DEPENDENCIES = 8;
const tooManyDependencies = {
  selector: `MethodDefinition[kind='constructor'] > FunctionExpression[params.length>${MAX_DEPENDENCIES}]`,
  message: `A constructor with more than ${MAX_DEPENDENCIES} parameters belongs to a class that does more than one thing.`,
};

const onlyWorkflowPackages = [
  '^(?!@temporalio/(workflow|common)$|\\.)',
  'Workflow code imports @temporalio/workflow, @temporalio/common and contracts, nothing else.',
];

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'coverage', '.gantry', 'test/apps/*/**', 'console/src/api/schema.d.ts'] },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    ignores: ['console/**'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json' } },
    rules: {
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Takes casts for unnecessary that generic builders and query results need.
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/no-extraneous-class': 'off',
      // Injected classes must stay value imports, or their metadata is lost at run time.
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'no-empty': ['error', { allowEmptyCatch: false }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  {
    files: ['console/**/*.{ts,mts,tsx}'],
    extends: [...tseslint.configs.recommendedTypeChecked, ...tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { project: './console/tsconfig.json' } },
    rules: {
      '@typescript-eslint/consistent-type-definitions': ['error', 'interface'],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unnecessary-type-assertion': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      'max-lines': ['error', { max: MAX_LINES }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  { files: SOURCE, rules: { 'no-restricted-syntax': ['error', tooManyDependencies] } },
  { files: [...SOURCE, ...TOOLS], rules: { 'max-lines': ['error', { max: MAX_LINES }] } },
  { files: ['src/**/*.ts'], rules: forbid(noTemporalClient, noProcesses, noWorkflowCode, noDeepImports) },
  { files: ['src/temporal/**/*.ts'], rules: forbid(noProcesses, noWorkflowCode, noDeepImports) },
  { files: ['src/patches/**/*.ts'], rules: forbid(noTemporalClient, noProcesses, noWorkflowCode) },
  {
    files: ['activities/**/*.ts'],
    rules: forbid(noTemporalClient, noDeepImports, [['**/*.controller'], 'Activities call services.']),
  },
  {
    files: ['worker/**/*.ts'],
    rules: forbid(noDeepImports, [['**/*.controller'], 'The worker serves no HTTP.']),
  },
  {
    files: ['src/**/*.ts', 'activities/**/*.ts', 'worker/**/*.ts', 'workflows/**/*.ts'],
    ignores: ['src/patches/**', '**/*.spec.ts'],
    rules: { 'no-restricted-syntax': ['error', tooManyDependencies, ...noLibraryInternals] },
  },
  {
    files: ['workflows/**/*.ts'],
    rules: forbid(onlyWorkflowPackages, [
      ['**/src/**', '**/activities/**'],
      'Workflow code reaches services through activities.',
      true,
    ]),
  },
  {
    files: ['test/**/*.ts', '**/*.spec.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/unbound-method': 'off',
    },
  },
  {
    files: ['**/*.{mjs,cjs,js}'],
    languageOptions: {
      globals: Object.fromEntries(
        [
          'process',
          'console',
          'URL',
          'URLSearchParams',
          'Buffer',
          'fetch',
          'setTimeout',
          'clearTimeout',
          'setInterval',
          'clearInterval',
          'setImmediate',
          'AbortController',
          'AbortSignal',
          'performance',
          'module',
          'require',
          '__dirname',
          'structuredClone',
          'TextDecoder',
          'TextEncoder',
          'FormData',
          'Blob',
          'Headers',
          'Response',
          'Request',
          'Event',
        ].map((name) => [name, 'readonly']),
      ),
    },
  },
  prettier,
);
