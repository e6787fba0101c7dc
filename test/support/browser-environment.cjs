const TestEnvironment = require('./test-environment.cjs');

/** The parts of a page that React and its hooks need; requests remain Node's own, without checks of origins. */
const PAGE = ['document', 'navigator', 'MutationObserver', 'HTMLElement', 'Event'];

/**
 * Environment for tests of browser code: a page around each test file. Made outside of jest's modules, which are slow to
 * load one.
 */
module.exports = class BrowserEnvironment extends TestEnvironment {
  async setup() {
    await super.setup();
    const { Window } = await import('happy-dom');
    this.page = new Window({ url: 'http://localhost/' });
    Object.assign(this.global, { window: this.page });
    for (const name of PAGE) {
      Object.defineProperty(this.global, name, { value: this.page[name], configurable: true });
    }
  }

  async teardown() {
    await this.page?.happyDOM.close();
    await super.teardown();
  }
};
