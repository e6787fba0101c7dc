import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DIST } from '../support/gantry-process';
import { INTERNAL_HOSTS } from '../support/internal-addresses';
import { testVariables } from '../support/variables';

const SENDERS = join(__dirname, '..', 'support', 'namespace-senders.mjs');

/** Makes every address of IPv4 and IPv6 one of this machine, within the namespace. */
const SETUP = 'ip link set lo up && ip route add local default dev lo && ip -6 route add local default dev lo';

/** Runs a command where there is no network but this one. */
const inNamespace = (command: string): string[] => ['-rn', 'sh', '-c', `${SETUP} && ${command}`];

interface Reached {
  name: string;
  url: string;
  connections: string[];
}

interface Control {
  name: string;
  connections: string[];
  outcome: string;
}

const canMakeNamespaces = spawnSync('unshare', inNamespace('true')).status === 0;

/** Where no namespace can be made, test/security/addresses.test.ts proves the same by loopback listeners and a watch on connects. */
(canMakeNamespaces ? describe : describe.skip)('senders in a network that is full of listeners', () => {
  it('connect to none of the internal addresses, in any spelling, and to what the operator allows', () => {
    const given = { dist: DIST, hosts: INTERNAL_HOSTS, variables: testVariables('postgres://nowhere') };
    const output = execFileSync('unshare', inNamespace(`exec '${process.execPath}' '${SENDERS}'`), {
      input: JSON.stringify(given),
      // Without credentials of its own, the process would ask the cloud's metadata service for some, as the operator expects.
      env: { ...process.env, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
      maxBuffer: 64 * 1024 * 1024,
      encoding: 'utf8',
      timeout: 150_000,
    });
    const { reached, controls } = JSON.parse(output) as { reached: Reached[]; controls: Control[] };
    expect(new Set(INTERNAL_HOSTS).size).toBeGreaterThan(200);
    expect(reached).toEqual([]);
    expect(controls.map(({ name, connections }) => [name, [...new Set(connections)]])).toEqual(
      ['webhook', 's3', 'azure_blob', 'token service'].map((name) => [name, ['::ffff:10.0.0.1 8080']]),
    );
  });
});
