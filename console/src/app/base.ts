/** The page's entry script is two levels below the server's address: `/console/assets/…`. */
const script = document.querySelector<HTMLScriptElement>('script[type=module][src]');
const server = new URL('../..', script?.src ?? location.href);

/** Address of the API, without a slash at its end. */
export const API_URL = server.href.replace(/\/$/, '');

/** Path under which the console is served. */
export const CONSOLE_PATH = `${server.pathname}console`;
