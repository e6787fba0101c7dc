const TestEnvironment = require('./test-environment.cjs');

/** What of a page React and its hooks look for; requests stay Node's own, which know nothing of other origins. */
const PAGE = ['document', 'navigator', 'MutationObserver', 'HTMLElement', 'Event'];

/** For tests of what runs in a browser: a page around each test file. Made outside of jest's modules, which are slow to load one. */
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
