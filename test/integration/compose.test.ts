import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import { CORE_SCHEMA, load, mergeTag } from 'js-yaml';
import { loadConfig } from '../../src/config/config';

interface Service {
  image: string;
  build?: unknown;
  container_name?: string;
  restart?: string;
  ports?: string[];
  healthcheck?: unknown;
  environment?: Record<string, string | number>;
  depends_on?: Record<string, { condition: string }>;
  configs?: { source: string }[];
}

interface Compose {
  services: Record<string, Service>;
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
const generate = (): string =>
  execFileSync(process.execPath, [join(root, 'scripts', 'generate-secrets.mjs')]).toString();

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

  it('has no secrets of its own: each one that is missing stops it', () => {
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
      expect(config.authEnabled).toBe(true);
      expect(config.webhookSecrets).toHaveLength(1);
      expect(config.internalKey).toBe(secrets.GANTRY_INTERNAL_KEY);
    }
    const { api, worker, migrate } = compose.services;
    expect(api.environment).toMatchObject({ GANTRY_HOST: '0.0.0.0', GANTRY_PORT: 2024 });
    expect(api.environment).toHaveProperty('GANTRY_ADMIN_KEY');
    expect(Object.keys(worker.environment!)).not.toContain('GANTRY_ADMIN_KEY');
    expect(Object.keys(worker.environment!)).not.toContain('GANTRY_API_KEY');
    expect(Object.keys(migrate.environment!)).toEqual(['DATABASE_URL']);
  });

  it('pins every image', () => {
    for (const [name, { image }] of services) {
      expect(`${name}: ${image}`).toMatch(/:v?\d+\.\d+(\.\d+)?[\w.-]*$/);
    }
  });

  it('publishes on 127.0.0.1 only', () => {
    for (const port of services.flatMap(([, { ports }]) => ports ?? [])) expect(port).toMatch(/^127\.0\.0\.1:\d+:\d+$/);
  });

  it('has workers that can be many', () => {
    expect(compose.services.worker).not.toHaveProperty('container_name');
    expect(compose.services.worker).not.toHaveProperty('ports');
  });

  it('waits only for what can be waited for', () => {
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

  it('mounts no configuration that is not there', () => {
    const mounted = services.flatMap(([, { configs }]) => (configs ?? []).map(({ source }) => source));
    expect(mounted.sort()).toEqual(Object.keys(compose.configs).sort());
  });
});

describe('scripts/generate-secrets.mjs', () => {
  it('makes other secrets each time', () => {
    const [first, second] = [parseEnvFile(generate()), parseEnvFile(generate())];
    for (const name of required) expect(second[name]).not.toBe(first[name]);
  });

  it('makes what .env.example asks for', () => {
    expect(Object.keys(parseEnvFile(read('.env.example'))).sort()).toEqual(required);
  });
});

describe('docs/operations.md', () => {
  it('tells every setting that is read, and no other', () => {
    const settings = [...read('src/config/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+): /gm)].map(([, name]) => name);
    const table = [...read('docs/operations.md').matchAll(/^\| `([A-Z][A-Z_]+)`/gm)].map(([, name]) => name);
    expect(table.sort()).toEqual(settings.sort());
  });
});
