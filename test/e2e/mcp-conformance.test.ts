import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { checkSection } from '../support/compatibility-page';
import { Gantry, startGantry } from '../support/gantry';

const GRAPHS = join(__dirname, '..', 'support', 'graphs', 'mcp.langgraph.json');

const NO_LOGGING = 'tools do not log to their callers: what a graph streams are progress notifications';
const OWN_RESOURCES = 'resources are threads and items of the store, not those of the suite';
const NO_SUBSCRIPTIONS = 'the capability is not declared: clients read a resource again';
const TEXT_PROMPTS = 'prompts of langgraph.json are texts';
const NO_CUSTOM_SCHEMA = 'a graph declares its schemas by zod types, which have no such keywords';

/** Scenarios about what Gantry does not offer, and why; every other one of a revision has to pass. */
const NOT_APPLICABLE: Record<string, string> = {
  'completion-complete': 'the capability is not declared: arguments are not completed',
  'logging-set-level': NO_LOGGING,
  'tools-call-with-logging': NO_LOGGING,
  'resources-read-text': OWN_RESOURCES,
  'resources-read-binary': OWN_RESOURCES,
  'resources-templates-read': OWN_RESOURCES,
  'resources-subscribe': NO_SUBSCRIPTIONS,
  'resources-unsubscribe': NO_SUBSCRIPTIONS,
  'prompts-get-embedded-resource': TEXT_PROMPTS,
  'prompts-get-with-image': TEXT_PROMPTS,
  'input-required-result-non-tool-request': TEXT_PROMPTS,
  'json-schema-2020-12': NO_CUSTOM_SCHEMA,
  'http-custom-header-server-validation': NO_CUSTOM_SCHEMA,
};

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

const ATTEMPTS = 3;

const REVISIONS = ['2025-11-25', '2026-07-28'] as const;
type Revision = (typeof REVISIONS)[number];

/** The section of docs/compatibility.md, from the scenarios that each revision requires. */
function sectionOf(seen: Map<Revision, Set<string>>, version: string): string {
  const names = [...new Set(REVISIONS.flatMap((revision) => [...seen.get(revision)!]))].sort();
  const cell = (name: string, revision: Revision): string => {
    if (!seen.get(revision)!.has(name)) return '–';
    return name in NOT_APPLICABLE ? 'no' : 'passes';
  };
  const counts = REVISIONS.map((revision) => {
    const required = [...seen.get(revision)!];
    const passed = required.filter((name) => !(name in NOT_APPLICABLE));
    return `${passed.length} of the ${required.length} scenarios that ${revision} requires`;
  });
  return `\`@modelcontextprotocol/conformance\` ${version}, as test/e2e/mcp-conformance.test.ts runs it against graphs: Gantry passes
${counts.join(' and ')}, and the others don't apply to it.
\`–\`: the revision doesn't require the scenario.

| scenario | ${REVISIONS.join(' | ')} | why it doesn't apply |
| -------- | ${REVISIONS.map(() => '---').join(' | ')} | -------------------- |
${names.map((name) => `| \`${name}\` | ${REVISIONS.map((each) => cell(name, each)).join(' | ')} | ${NOT_APPLICABLE[name] ?? ''} |`).join('\n')}
`;
}

/** Checks that failed, of the scenarios that apply. */
function failuresOf(scenarios: Map<string, Check[]>): string[] {
  return [...scenarios]
    .filter(([name]) => !(name in NOT_APPLICABLE))
    .flatMap(([name, checks]) =>
      checks
        .filter(({ status }) => status === 'FAILURE')
        .map(({ id, errorMessage }) => `${name}: ${id}: ${errorMessage}`),
    );
}

/** The public suite, with the scenarios that each revision requires, against graphs by the names that it calls. */
describe('the MCP conformance suite', () => {
  let gantry: Gantry;
  let results: string;
  const seen = new Map<Revision, Set<string>>();

  beforeAll(async () => {
    gantry = await startGantry({ graphProcesses: 1, graphs: GRAPHS });
  });

  beforeEach(() => {
    results = mkdtempSync(join(tmpdir(), 'gantry-mcp-'));
  });

  afterEach(() => rmSync(results, { recursive: true, force: true }));

  afterAll(() => gantry?.stop());

  function suite(): string {
    const script = process.env.GANTRY_TEST_MCP_CONFORMANCE;
    if (!script) throw new Error('GANTRY_TEST_MCP_CONFORMANCE is missing: run the tests with `npm test`');
    return script;
  }

  /** Runs what a revision requires; resolves to the checks of each scenario. */
  async function run(revision: string): Promise<Map<string, Check[]>> {
    const args = [suite(), 'server', '--url', `${gantry.url}/mcp`, '--requirements', revision, '-o', results];
    await new Promise((resolve) => {
      // It exits with an error for every scenario that fails, the ones that do not apply included: the files say more.
      execFile(process.execPath, args, { timeout: 240_000, env: { PATH: process.env.PATH } }, resolve);
    });
    return new Map(
      readdirSync(results).map((folder) => [
        folder.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, ''),
        JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8')) as Check[],
      ]),
    );
  }

  it.each([
    ['2025-11-25', 30],
    ['2026-07-28', 37],
  ] as const)(
    'passes what %s requires and applies',
    async (revision, required) => {
      let scenarios = await run(revision);
      expect(scenarios.size).toBeGreaterThanOrEqual(required);
      let failed = failuresOf(scenarios);
      // The suite waits half a second for some answers: on a busy machine a check may fail once, but not every time.
      for (let attempt = 2; attempt <= ATTEMPTS && failed.length > 0; attempt += 1) {
        rmSync(results, { recursive: true });
        scenarios = await run(revision);
        const again = failuresOf(scenarios);
        failed = failed.filter((failure) => again.includes(failure));
      }
      expect(failed).toEqual([]);
      seen.set(revision, new Set(scenarios.keys()));
      // A scenario that passes applies after all.
      const passing = [...scenarios]
        .filter(([name, checks]) => name in NOT_APPLICABLE && checks.every(({ status }) => status !== 'FAILURE'))
        .map(([name]) => name);
      expect(passing).toEqual([]);
    },
    600_000,
  );

  it('passes what docs/compatibility.md says', () => {
    const { version } = JSON.parse(readFileSync(join(dirname(suite()), '..', 'package.json'), 'utf8')) as {
      version: string;
    };
    checkSection('mcp', sectionOf(seen, version));
  });
});
