import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { downloadBySdk } from './binaries.mjs';
import { waitForLock } from './lock.mjs';
import { cacheDir } from './paths.mjs';
import { runCommand } from './process.mjs';
import { say, sayWhile } from './progress.mjs';

/** The Java SDK's release that the test server comes from, when it is taken from Maven. */
const VERSION = '1.38.0';
const MAVEN_MS = 10 * 60_000;

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>gantry</groupId>
  <artifactId>time-skipping-server</artifactId>
  <version>1</version>
  <dependencies>
    <dependency>
      <groupId>io.temporal</groupId>
      <artifactId>temporal-test-server</artifactId>
      <version>${VERSION}</version>
    </dependency>
    <dependency>
      <groupId>org.slf4j</groupId>
      <artifactId>slf4j-nop</artifactId>
      <version>1.7.36</version>
    </dependency>
  </dependencies>
</project>
`;

/**
 * Makes the jars look like the program that the SDK would have downloaded. Not with --enable-time-skipping: the clock
 * would jump from the start, to the workflow's timeout before a worker has polled; the SDK lets it jump when it waits.
 */
const WRAPPER = `#!/bin/sh
exec java -cp "$(dirname "$0")/lib/*" io.temporal.testserver.TestServer "$@"
`;

/** @param {string} directory @param {AbortSignal} [signal] */
async function fetchByMaven(directory, signal) {
  writeFileSync(join(directory, 'pom.xml'), POM);
  const args = ['--batch-mode', '--quiet', 'dependency:copy-dependencies', '-DincludeScope=runtime'];
  await runCommand('mvn', [...args, `-DoutputDirectory=${join(directory, 'lib')}`], {
    cwd: directory,
    signal,
    timeoutMs: MAVEN_MS,
  });
  writeFileSync(join(directory, 'run'), WRAPPER, { mode: 0o755 });
}

/**
 * Temporal's test server, whose clock jumps over time in which nothing is waited for: a day's timer takes a moment.
 * @param {AbortSignal} [signal]
 * @returns {Promise<string>} path of a program that takes the port as its argument
 */
export async function findTimeSkippingServer(signal) {
  const recipe = createHash('sha256').update(POM).update(WRAPPER).digest('hex').slice(0, 12);
  const home = join(cacheDir(), `time-skipping-server-${VERSION}-${recipe}`);
  const program = join(home, 'run');
  if (existsSync(program)) return program;
  const lock = await waitForLock(`${home}.lock`, 'builder', { signal });
  const draft = mkdtempSync(join(cacheDir(), '.time-skipping-server-'));
  try {
    if (existsSync(program)) return program;
    try {
      await sayWhile('time-skipping', 'downloading the test server, through the Temporal SDK', async () => {
        mkdirSync(join(draft, 'sdk'));
        const file = await downloadBySdk('time-skipping', join(draft, 'sdk'), signal);
        renameSync(file, join(draft, 'run'));
      });
    } catch (error) {
      signal?.throwIfAborted();
      say('time-skipping', `the download failed (${error.lastLine ?? error.message}); taking it from Maven instead`);
      await sayWhile('time-skipping', 'fetching the test server with Maven', () => fetchByMaven(draft, signal));
    }
    rmSync(home, { recursive: true, force: true });
    renameSync(draft, home);
    return program;
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(
      `No time-skipping test server could be obtained. Install Maven and Java 17 or later, so that it can be ` +
        `fetched.\n${error.message}`,
      { cause: error },
    );
  } finally {
    rmSync(draft, { recursive: true, force: true });
    lock.release();
  }
}
