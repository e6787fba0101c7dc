const { relative } = require('node:path');
const { default: Sequencer } = require('@jest/test-sequencer');
const recorded = require('./durations.json');

/** Of a file that was never measured: specs take no time worth an order, tests with services as long as most. */
const UNKNOWN_SECONDS = 10;

/** The longest files first, so that all lanes end together: by jest's own memory, else by what was recorded last. */
module.exports = class LongestFirst extends Sequencer {
  time(test) {
    const path = relative(test.context.config.rootDir, test.path);
    const seconds = recorded[path] ?? (path.endsWith('.spec.ts') ? 0 : UNKNOWN_SECONDS);
    return super.time(test) ?? seconds * 1_000;
  }
};
