const { appendFileSync, readFileSync } = require('node:fs');
const { relative } = require('node:path');
const { TestEnvironment: NodeEnvironment } = require('jest-environment-node');

/** Lines of the output of each process that are shown when a test fails. */
const SHOWN_LINES = 40;
/** Lines of a fault of a process that are added to the error of the test that it made fail. */
const FAULT_LINES = 12;
const FAULT_LINE_LENGTH = 300;
const TICKS_PER_SECOND = 100;

/** Seconds of processor time that this process has taken, and the children that it has waited for. */
function processorSeconds() {
  const { user, system } = process.cpuUsage();
  let children = 0;
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8');
    // User and system time of the children, by their places after the name in brackets.
    const [ofUser, ofSystem] = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(13, 15);
    children = (Number(ofUser) + Number(ofSystem)) / TICKS_PER_SECOND;
  } catch (error) {
    if (error.code !== 'ENOENT') throw error; // Only Linux has this file.
  }
  return { own: (user + system) / 1e6, children };
}

/** Hides the passwords of the test run's services, which a log could name. */
function withoutSecrets(text) {
  const { GANTRY_TEST_DATABASE_URL: url, GANTRY_TEST_S3: s3 } = process.env;
  const secrets = [url && new URL(url).password, s3 && JSON.parse(s3).secret_access_key].filter(Boolean);
  return secrets.reduce((rest, secret) => rest.replaceAll(secret, '***'), text);
}

/**
 * Node's environment, and around it what each test file needs of the runner:
 * - the output of the processes that a file has started (test/support/kept-output.ts), shown for a test that failed, and the
 *   fault of a process that has ended in one, as part of the test's error;
 * - with GANTRY_TEST_MEASUREMENTS, the path of a file, a JSON line for each test file: its wall time, its processor time
 *   and the processes of Gantry that it has started.
 */
module.exports = class TestEnvironment extends NodeEnvironment {
  constructor(config, context) {
    super(config, context);
    this.testPath = relative(config.globalConfig.rootDir, context.testPath);
    this.hadEnded = new Set();
    this.since = { wall: Date.now(), ...processorSeconds() };
    /** Filled by kept-output.ts. */
    this.global.gantryOutputs = [];
    /** Seconds of processes that no parent waits for; gantry-process.ts adds to it. */
    this.global.gantryOrphanSeconds = 0;
  }

  handleTestEvent(event) {
    if (event.name === 'test_start') this.noteEnded();
    if (event.name === 'hook_failure') this.showOutput(`a hook of ${this.testPath}`);
    if (event.name === 'test_done' && event.test.errors.length > 0) {
      this.addFaults(event.test.errors[0]);
      this.showOutput(fullName(event.test));
    }
  }

  async teardown() {
    this.record();
    await super.teardown();
  }

  /** Marks the processes that have ended already, whose output says nothing about the next test. */
  noteEnded() {
    this.hadEnded = new Set(this.global.gantryOutputs.filter(({ isClosed }) => isClosed));
  }

  /**
   * Adds the last words of processes that have ended in a fault to the error of the test: a connection that was refused doesn't
   * say why, and the output of the processes is far from the error in that of a long run.
   */
  addFaults(testError) {
    const error = Array.isArray(testError) ? (testError[0] ?? testError[1]) : testError;
    if (typeof error?.stack !== 'string') return;
    const faults = this.global.gantryOutputs.flatMap((output) => {
      if (!output.isClosed || this.hadEnded.has(output)) return [];
      const fresh = output.lines.slice(-Math.min(output.written - output.shown, SHOWN_LINES));
      // A fault is written by Node, between and after the lines of the log.
      const lines = fresh.filter((line) => !line.startsWith('{')).slice(-FAULT_LINES);
      if (lines.length === 0) return [];
      return [`${output.name} has ended:`, ...lines.map((line) => line.slice(0, FAULT_LINE_LENGTH))];
    });
    if (faults.length === 0) return;
    const added = `\n\n${withoutSecrets(faults.join('\n'))}\n`;
    const begin = error.stack.search(/\n\s+at /);
    error.stack = begin < 0 ? error.stack + added : error.stack.slice(0, begin) + added + error.stack.slice(begin);
  }

  /** @param {string} what failed */
  showOutput(what) {
    const parts = this.global.gantryOutputs.flatMap((output) => {
      if (this.hadEnded.has(output)) return [];
      const fresh = Math.min(output.written - output.shown, SHOWN_LINES, output.lines.length);
      output.shown = output.written;
      return fresh === 0 ? [] : [`--- ${output.name}`, ...output.lines.slice(-fresh)];
    });
    if (parts.length === 0) return;
    const text = withoutSecrets(parts.join('\n'));
    process.stderr.write(`\nWhat the processes of ${this.testPath} wrote last, until “${what}” failed:\n${text}\n\n`);
  }

  record() {
    const path = process.env.GANTRY_TEST_MEASUREMENTS;
    if (!path) return;
    const { own, children } = processorSeconds();
    const { gantryOrphanSeconds, gantryOutputs } = this.global;
    const measured = {
      file: this.testPath,
      wall: (Date.now() - this.since.wall) / 1_000,
      own: own - this.since.own,
      children: children - this.since.children + gantryOrphanSeconds,
      processes: gantryOutputs.length,
    };
    appendFileSync(path, `${JSON.stringify(measured)}\n`);
  }
};

/** @param {{ name: string, parent?: any }} test */
function fullName({ name, parent }) {
  return parent && parent.name !== 'ROOT_DESCRIBE_BLOCK' ? `${fullName(parent)} ${name}` : name;
}
