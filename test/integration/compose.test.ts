import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { loadConfig } from '../../src/config/config';
import { environmentSchema } from '../../src/config/environment';
import { SEARCH_ATTRIBUTES } from '../../workflows/contracts/search-attributes';

interface Service {
  image: string;
  build?: unknown;
  container_name?: string;
  restart?: string;
  ports?: string[];
  command?: string[];
  volumes?: string[];
  healthcheck?: unknown;
  environment?: Record<string, string | number>;
  depends_on?: Record<string, { condition: string }>;
  configs?: { source: string }[];
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  privileged?: boolean;
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
  networks?: string[];
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
  configs: Record<string, { content: string }>;
}

const root = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const text = read('docker-compose.yml');

/** `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as compose replaces them; `$$` is a dollar. */
function interpolate(source: string, env: Record<string, string>): string {
  return source.replace(
    /\$\$|\$\{(\w+)(?::([?-])([^}]*))?\}/g,
    (_match, name?: string, kind?: string, rest?: string) => {
      if (!name) return '$';
      const value = env[name];
      if (value) return value;
      if (kind === '?') throw new Error(`${name} is missing a value: ${rest}`);
      return kind === '-' ? (rest ?? '') : '';
    },
  );
}

function parse(source: string): Compose {
  return load(source, { schema: CORE_SCHEMA.withTags(mergeTag) }) as Compose;
}

function parseEnvFile(source: string): Record<string, string> {
  const pairs = source.split('\n').filter((line) => /^\w+=/.test(line));
  return Object.fromEntries(pairs.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

const required = [...new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name))].sort();
/** Runs the script that writes the secrets into a new file. */
const generateInto = (file: string): void => {
  execFileSync(process.execPath, [join(root, 'scripts', 'generate-secrets.mjs'), file], { stdio: 'pipe' });
};

function generate(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gantry-secrets-'));
  try {
    const file = join(folder, '.env');
    generateInto(file);
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('docker-compose.yml', () => {
  const secrets = parseEnvFile(generate());
  const compose = parse(interpolate(text, secrets));
  const services = Object.entries(compose.services);

  it('is valid by the Compose specification', () => {
    // Formats are annotations there, and its own keywords (deprecated) are not ajv's.
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validate = ajv.compile(JSON.parse(read('test/support/compose-spec.json')) as object);
    validate(compose);
    expect(validate.errors).toBeNull();
    expect(validate({ services: { api: { imagge: 'x' } } })).toBe(false);
  });

  it('contains no secrets: each one that is missing prevents the start', () => {
    expect(required).toEqual(Object.keys(secrets).sort());
    for (const name of required) {
      expect(() => interpolate(text, { ...secrets, [name]: '' })).toThrow(`${name} is missing a value`);
    }
    expect(text).not.toMatch(/(PASSWORD|PWD|SECRET\w*|_KEY|TOKEN): +(?!\$\{)\S/);
  });

  it('gives each process settings that it starts with', () => {
    for (const name of ['api', 'worker']) {
      const environment = compose.services[name].environment!;
      const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, String(value)]));
      const config = loadConfig(env);
      expect(config.auth.isEnabled).toBe(true);
      // Only the worker sends webhooks.
      expect(config.webhooks.secrets).toHaveLength(name === 'worker' ? 1 : 0);
    }
    const { api, worker, migrate } = compose.services;
    expect(api.environment).toMatchObject({ GANTRY_HOST: '0.0.0.0', GANTRY_PORT: 2024 });
    expect(api.environment).toHaveProperty('GANTRY_ADMIN_KEY');
    expect(Object.keys(worker.environment!)).not.toContain('GANTRY_ADMIN_KEY');
    expect(Object.keys(worker.environment!)).not.toContain('GANTRY_API_KEY');
    // The login of graph processes has to be the one for which the migrations made the policies.
    expect(Object.keys(migrate.environment!)).toEqual([
      'DATABASE_URL',
      'GANTRY_REQUESTS_DATABASE_URL',
      'GANTRY_GRAPHS_DATABASE_URL',
    ]);
  });

  it('names every image of a registry by its version and its digest', () => {
    const pinned = /:v?\d+\.\d+(\.\d+)?[\w.-]*@sha256:[0-9a-f]{64}$/;
    const foreign = services.flatMap(([, { image, build }]) => (build ? [] : [image]));
    const [, node] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('Dockerfile'))!;
    expect(foreign.length).toBeGreaterThan(4);
    for (const image of [...foreign, node]) expect(image).toMatch(pinned);
  });

  it('builds on the image that the Dockerfile names', () => {
    const [, named] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('Dockerfile'))!;
    expect(compose.services.api.build).toMatchObject({ args: { NODE_IMAGE: named } });
  });

  it('copies into the image only what .dockerignore lets in', () => {
    const letIn = read('.dockerignore')
      .split('\n')
      .flatMap((line) => (line.startsWith('!') ? [line.slice(1)] : []));
    const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources]) =>
      sources.split(' '),
    );
    expect(copied).toContain('package.json');
    const missing = copied.filter((source) => !letIn.some((each) => source === each || source.startsWith(`${each}/`)));
    expect(missing).toEqual([]);
  });

  it('gives no container more privileges than it needs', () => {
    for (const [name, service] of services) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          // The image's start script writes beside its template.
          read_only: name !== 'temporal-ui',
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
          mem_limit: expect.stringMatching(/^\d+[gm]$/),
          pids_limit: expect.any(Number),
        }),
      ]);
      expect(service).not.toHaveProperty('cap_add');
      expect(service).not.toHaveProperty('privileged');
    }
  });

  it('gives each secret only to the containers that need it', () => {
    const holders = (secret: string): string[] =>
      services
        .filter(([, { environment }]) =>
          Object.values(environment ?? {}).some((value) => String(value).includes(secret)),
        )
        .map(([name]) => name);
    const both = ['api', 'worker'];
    expect(Object.fromEntries(Object.entries(secrets).map(([name, value]) => [name, holders(value)]))).toEqual({
      GANTRY_ADMIN_KEY: ['api'],
      GANTRY_API_KEY: ['api'],
      GANTRY_TENANT_ID: both,
      GANTRY_INTERNAL_KEY: ['api'],
      GANTRY_METRICS_TOKEN: both,
      GANTRY_SECRET_KEY: both,
      GANTRY_WEBHOOK_SECRETS: ['worker'],
      GANTRY_POSTGRES_PASSWORD: [...both, 'migrate', 'postgres'],
      TEMPORAL_POSTGRES_PASSWORD: ['postgres', 'temporal-schema', 'temporal'],
      GANTRY_S3_ACCESS_KEY_ID: [...both, 's3'],
      GANTRY_S3_SECRET_ACCESS_KEY: [...both, 's3'],
    });
  });

  it('connects only the containers that have to reach each other', () => {
    const members = (network: string): string[] =>
      services.filter(([, { networks }]) => networks?.includes(network)).map(([name]) => name);
    const internal = Object.keys(compose.networks).filter((name) => compose.networks[name]?.internal);
    expect(Object.fromEntries(Object.keys(compose.networks).map((name) => [name, members(name)]))).toEqual({
      edge: ['api', 'worker'],
      database: ['api', 'worker', 'migrate', 'postgres', 'temporal-schema', 'temporal'],
      temporal: ['api', 'worker', 'temporal', 'temporal-namespace', 'temporal-ui'],
      s3: ['api', 'worker', 's3'],
      'temporal-ui': ['temporal-ui'],
      's3-published': ['s3'],
    });
    expect(internal).toEqual(['database', 'temporal', 's3']);
    for (const [name, { networks = [], ports }] of services) {
      // Without a network of its own a service would be in the default one, with all the others.
      expect([name, networks.length > 0]).toEqual([name, true]);
      if (ports) expect([name, networks.some((network) => !internal.includes(network))]).toEqual([name, true]);
    }
  });

  it('keeps values out of the log of Postgres, with the settings of npm start', () => {
    // test/security/canaries-log.test.ts shows that they do.
    const settings = [
      ...read('scripts/services/postgres.mjs').matchAll(/^ {2}(log_(?:min_error|param|error)\w*): '(\w+)'/gm),
    ];
    expect(settings).toHaveLength(4);
    for (const [, name, value] of settings) expect(compose.services.postgres.command).toContain(`-c${name}=${value}`);
  });

  it('mounts graphs read-only', () => {
    for (const name of ['api', 'worker']) {
      const graphs = compose.services[name].volumes!.filter((volume) => volume.includes('/app/graphs'));
      expect([name, graphs]).toEqual([name, [expect.stringMatching(/:ro$/)]]);
    }
  });

  it('publishes on 127.0.0.1 only', () => {
    for (const port of services.flatMap(([, { ports }]) => ports ?? [])) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('allows several workers', () => {
    expect(compose.services.worker).not.toHaveProperty('container_name');
    expect(compose.services.worker).not.toHaveProperty('ports');
  });

  it('calls api and worker healthy when they take work, whether Temporal answers or not', () => {
    const ports = { api: 2024, worker: 2025 };
    for (const [name, port] of Object.entries(ports)) {
      expect(JSON.stringify(compose.services[name].healthcheck)).toContain(`http://127.0.0.1:${port}/ready'`);
    }
  });

  it('waits only for conditions that can be met', () => {
    for (const [name, { depends_on: dependencies = {} }] of services) {
      for (const [dependency, { condition }] of Object.entries(dependencies)) {
        const target = compose.services[dependency];
        const edge = `${name} → ${dependency}: ${condition}`;
        if (condition === 'service_healthy') expect([edge, target?.healthcheck]).toEqual([edge, expect.anything()]);
        // A job that is always started again never completes.
        else expect([edge, target?.restart]).toEqual([edge, expect.stringMatching(/^on-failure/)]);
      }
    }
  });

  it('uses the namespace of Temporal that is set, and creates it', () => {
    const { services: restored, configs } = parse(interpolate(text, { ...secrets, TEMPORAL_NAMESPACE: 'restored' }));
    for (const name of ['api', 'worker', 'temporal-namespace']) {
      expect([name, restored[name].environment]).toEqual([
        name,
        expect.objectContaining({ TEMPORAL_NAMESPACE: 'restored' }),
      ]);
    }
    const commands = configs['temporal-namespace'].content.match(/--namespace \S+/g);
    expect(new Set(commands)).toEqual(new Set(['--namespace "$TEMPORAL_NAMESPACE"']));
  });

  it('registers every search attribute, as the page on operations does', () => {
    const names = SEARCH_ATTRIBUTES.map(({ name }) => name);
    for (const source of [text, read('docs/operations.md')]) {
      const [, registered] = /for name in (Gantry[\w ]+); do/.exec(source)!;
      expect(registered.split(' ').sort()).toEqual([...names].sort());
    }
  });

  it('mounts no configuration that does not exist', () => {
    const mounted = services.flatMap(([, { configs }]) => (configs ?? []).map(({ source }) => source));
    expect(mounted.sort()).toEqual(Object.keys(compose.configs).sort());
  });
});

describe('the image', () => {
  const stages = read('Dockerfile').split(/^FROM /m);
  const last = stages.at(-1)!;

  it('contains what runs and the graphs, and no sources, tests or development packages', () => {
    const copied = [...last.matchAll(/^COPY (.+)$/gm)].map(([, what]) => what);
    expect(copied).toEqual([
      '--from=dependencies /app/node_modules ./node_modules',
      '--from=dependencies /app/sbom.cdx.json ./',
      '--from=build /app/dist ./dist',
      'package.json LICENSE ./',
      'python ./python',
      'examples ./graphs',
    ]);
    const dependencies = stages.find((stage) => stage.includes('AS dependencies'));
    expect(dependencies).toContain('npm ci --omit=dev');
  });

  it('runs as a user who can change none of its files', () => {
    // Files belong to root unless a COPY or a command changes their owner.
    expect(last).not.toMatch(/--ch(own|mod)|^RUN /m);
    expect(last).toMatch(/^USER node$[\s\S]*^CMD \[/m);
    expect(last.match(/^USER /gm)).toHaveLength(1);
  });

  it('is built without files of secrets, and has none in its environment', () => {
    expect(read('.dockerignore').split('\n')).toEqual(expect.arrayContaining(['*', '**/.env', '**/node_modules']));
    expect(read('Dockerfile')).not.toMatch(/^(ARG|ENV) .*(KEY|SECRET|TOKEN|PASSWORD)/m);
  });
});

describe('scripts/generate-secrets.mjs', () => {
  it('generates different secrets each time', () => {
    const [first, second] = [parseEnvFile(generate()), parseEnvFile(generate())];
    for (const name of required) expect(second[name]).not.toBe(first[name]);
  });

  it('writes a file that only its owner may read, and never overwrites one', () => {
    const folder = mkdtempSync(join(tmpdir(), 'gantry-secrets-'));
    const file = join(folder, '.env');
    try {
      generateInto(file);
      const content = readFileSync(file, 'utf8');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      expect(() => generateInto(file)).toThrow(`${file} exists and is left as it is`);
      expect(readFileSync(file, 'utf8')).toBe(content);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('generates everything that .env.example requires', () => {
    expect(Object.keys(parseEnvFile(read('.env.example'))).sort()).toEqual(required);
  });
});

describe('scripts/pin-images.mjs', () => {
  const FILES = ['docker-compose.yml', 'Dockerfile'];
  const DIGEST = `sha256:${'0a'.repeat(32)}`;
  const pinnedBy = (digest: string): string[] =>
    FILES.map((name) => read(name).replace(/@sha256:[0-9a-f]{64}/g, `@${digest}`));
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gantry-docker-'));
    for (const name of FILES) writeFileSync(join(folder, name), read(name));
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** Runs the script with a docker that answers with this digest for every tag. */
  function pin(answer: string, ...args: string[]): string {
    writeFileSync(join(folder, 'docker'), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` };
    const command = [join(root, 'scripts', 'pin-images.mjs'), ...args, folder];
    return execFileSync(process.execPath, command, { env, stdio: 'pipe' }).toString();
  }
  const written = (): string[] => FILES.map((name) => readFileSync(join(folder, name), 'utf8'));

  it('writes the digests that docker finds, and names the images whose tags have moved', () => {
    expect(pin(DIGEST)).toContain(`is now postgres:17.6-bookworm@${DIGEST}`);
    expect(written()).toEqual(pinnedBy(DIGEST));
    expect(pin(DIGEST)).toBe('');
  });

  it('changes nothing with --check, and fails where a tag has moved', () => {
    expect(() => pin(DIGEST, '--check')).toThrow('Command failed');
    expect(written()).toEqual(FILES.map(read));
    pin(DIGEST);
    expect(pin(DIGEST, '--check')).toBe('');
  });

  it('changes nothing where docker finds no digest', () => {
    expect(() => pin('not found')).toThrow('no digest');
    expect(written()).toEqual(FILES.map(read));
  });
});

describe('docs/operations.md', () => {
  it('lists every setting that is read, and no other', () => {
    const settings = Object.keys(environmentSchema.shape);
    const table = [...read('docs/operations.md').matchAll(/^\| `([A-Z][A-Z0-9_]+)`/gm)].map(([, name]) => name);
    expect(table.sort()).toEqual(settings.sort());
  });
});
