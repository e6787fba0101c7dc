import { performance } from 'node:perf_hooks';

/** @typedef {{ name: string, ok: boolean, text: string, seconds: number }} Result */

const LINE = 116;

/** Prints the steps of the demo, and counts the checks that passed. */
export class Report {
  constructor() {
    /** @type {Result[]} */
    this.results = [];
    this.isMidLine = false;
  }

  /** @param {string} text */
  line(text = '') {
    if (this.isMidLine) process.stdout.write('\n');
    this.isMidLine = false;
    process.stdout.write(`${text}\n`);
  }

  /** Prints a request to Gantry. @param {string} text */
  ask(text) {
    this.line(`   > ${short(text)}`);
  }

  /** Prints an answer. @param {string} text */
  answer(text) {
    this.line(`   < ${short(text)}`);
  }

  /** Prints an event outside Gantry. @param {string} text */
  note(text) {
    this.line(`     ${text}`);
  }

  /** Prints a piece of a streamed answer. @param {string} text */
  piece(text) {
    if (!this.isMidLine) process.stdout.write('   < ');
    this.isMidLine = true;
    process.stdout.write(text);
  }

  /** @param {Record<string, unknown>[]} rows */
  table(rows) {
    const names = Object.keys(rows[0] ?? {});
    const cells = rows.map((row) => names.map((name) => String(row[name])));
    const widths = names.map((name, column) => Math.max(name.length, ...cells.map((line) => line[column].length)));
    const isNumber = names.map((name) => rows.every((row) => typeof row[name] === 'number'));
    for (const line of [names, ...cells]) {
      const padded = line.map((cell, column) =>
        isNumber[column] ? cell.padStart(widths[column]) : cell.padEnd(widths[column]),
      );
      this.line(`     ${padded.join('   ').trimEnd()}`);
    }
  }

  /**
   * @param {string} name
   * @param {string} title
   * @param {() => Promise<{ faults: string[], text: string }>} run what is wrong, and the numbers
   */
  async part(name, title, run) {
    this.line();
    this.line(`${this.results.length + 1}  ${title}`);
    const since = performance.now();
    /** @type {{ faults: string[], text: string }} */
    let outcome;
    try {
      outcome = await run();
    } catch (error) {
      outcome = { faults: [describe(error)], text: '' };
    }
    const ok = outcome.faults.length === 0;
    const text = [...outcome.faults, ...(outcome.text ? [outcome.text] : [])].join('; ');
    const seconds = (performance.now() - since) / 1000;
    this.results.push({ name, ok, text, seconds });
    this.line(`   ${ok ? 'PASS' : 'FAIL'}  ${text}`);
  }

  /** @returns {boolean} whether everything passed */
  summary() {
    this.line();
    for (const { name, ok, text, seconds } of this.results) {
      this.line(`${ok ? 'PASS' : 'FAIL'}  ${name.padEnd(8)} ${seconds.toFixed(1).padStart(5)} s  ${text}`);
    }
    const failed = this.results.filter(({ ok }) => !ok).length;
    this.line(`\n${this.results.length - failed} passed, ${failed} failed`);
    return failed === 0;
  }
}

/** @param {unknown} error */
function describe(error) {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

/** @param {string} text */
function short(text) {
  const line = text.replace(/\s*\n\s*/g, ' ');
  return line.length > LINE ? `${line.slice(0, LINE - 1)}…` : line;
}
