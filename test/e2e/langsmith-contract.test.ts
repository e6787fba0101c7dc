import { type ApiProcess, startApiProcess } from '../support/api-process';
import { LANGSMITH_CLIENTS, LangSmithClients, type LangSmithClientName } from '../support/langsmith/clients';
import { checkLangSmithPage, type Seen } from '../support/langsmith/page';
import { COMPOSED, LOCAL, NOT_CALLED, NOT_SERVED, placeholders } from '../support/langsmith/not-served';
import { prepareTraces } from '../support/langsmith/resources';
import {
  CLIENT_FAULTS,
  NOT_SENT,
  REFUSED,
  SERVED,
  type TraceResources,
  WITH_ANY_FIELD,
  WITHOUT_EFFECT,
} from '../support/langsmith/served';
import { OpenApiDocument } from '../support/openapi-document';

type Values = Record<string, unknown>;

const REFUSED_METHODS = NOT_SERVED.flatMap(({ methods }) => methods);
const KNOWN = [...Object.keys(SERVED), ...REFUSED_METHODS, ...LOCAL, ...COMPOSED, ...NOT_CALLED];
/** Methods for which 404 is a valid answer: the resource doesn't exist. */
const WITHOUT_ERROR = new Set(['agent_exists', 'get_prompt', 'has_dataset', 'prompt_exists', 'skill_exists']);
/** Path that the clients request under their own base address; it is documented at the root. */
const INFO = '/api/v1/info';

/** Every method of LangSmith's newest clients: each parameter is served, or refused by name. */
describe('the contract with LangSmith’s clients', () => {
  let api: ApiProcess;
  let clients: LangSmithClients;
  let openApi: OpenApiDocument;
  const seen: Seen = new Map();

  beforeAll(async () => {
    api = await startApiProcess();
    openApi = await OpenApiDocument.of(api.url);
    clients = await LangSmithClients.start(`${api.url}/api/v1`);
  });
  afterAll(async () => {
    clients?.stop();
    await api?.close();
  });

  it.each(LANGSMITH_CLIENTS)('includes every method of %s', (client) => {
    expect(Object.keys(clients.methods(client)).filter((method) => !KNOWN.includes(method))).toEqual([]);
  });

  it.each(LANGSMITH_CLIENTS)('serves %s with every parameter', async (client) => {
    const resources = await prepareTraces(api.url);
    const faults = CLIENT_FAULTS[client] ?? {};
    const methods = Object.keys(SERVED).filter((name) => name in clients.methods(client) && !(name in faults));
    const problems: object[] = [];
    for (const method of methods) {
      problems.push(...(await problemsOfServed(client, method, resources)));
      problems.push(...(await problemsOfRefusals(client, method, resources)));
    }
    expect(problems).toEqual([]);
  });

  it.each(LANGSMITH_CLIENTS)('refuses what it does not serve of %s', async (client) => {
    const problems: object[] = [];
    for (const method of REFUSED_METHODS.filter((name) => name in clients.methods(client))) {
      const args = placeholders(method, clients.methods(client)[method]);
      const { sent, failure } = await clients.call(client, method, args);
      // Some ask the server once what it has, and keep the answer.
      const isRefused = sent.some(({ status }) => status === 404) || /\[404\]|does not allow/.test(failure ?? '');
      const isSaid = failure !== null || WITHOUT_ERROR.has(method);
      if (!isRefused || !isSaid) problems.push({ method, failure, sent });
    }
    expect(problems).toEqual([]);
  });

  it('is listed in docs/compatibility.md', () => checkLangSmithPage(seen));

  /** Calls a method with every parameter that is served. @returns what is wrong with that */
  async function problemsOfServed(
    client: LangSmithClientName,
    method: string,
    resources: TraceResources,
  ): Promise<object[]> {
    const parameters = clients.methods(client)[method];
    const problems: object[] = [];
    const used = new Set<string>();
    for (const values of await SERVED[method](resources, client)) {
      const args = argumentsOf(client, method, values);
      if (parameters.length > 0 && Object.keys(args).length === 0) continue;
      for (const name of Object.keys(args)) used.add(name);
      const { sent, failure } = await clients.call(client, method, args);
      const refused = sent.filter(({ status }) => status >= 300).map(({ url, status }) => ({ url, status }));
      const undocumented = sent.flatMap((each) => undocumentedOf(each));
      if (failure !== null || sent.length === 0 || refused.length > 0 || undocumented.length > 0) {
        problems.push({ method, failure, refused, undocumented });
      }
      note(client, method, sent);
    }
    const missing = parameters.filter((name) => !used.has(name) && !NOT_SENT.has(name) && !(name in REFUSED));
    return missing.length > 0 ? [...problems, { method, missing }] : problems;
  }

  /** Calls a method with each parameter that is not served. @returns those whose refusal doesn't name them */
  async function problemsOfRefusals(
    client: LangSmithClientName,
    method: string,
    resources: TraceResources,
  ): Promise<object[]> {
    const calls = (await SERVED[method](resources, client)).map((values) => argumentsOf(client, method, values));
    const isServed = (name: string): boolean => calls.some((args) => name in args);
    const problems: object[] = [];
    for (const name of clients.methods(client)[method].filter((each) => each in REFUSED && !isServed(each))) {
      const { failure } = await clients.call(client, method, { ...calls[0], [name]: REFUSED[name].value });
      if (!failure?.includes(REFUSED[name].said ?? name)) problems.push({ method, name, failure });
    }
    return problems;
  }

  function argumentsOf(client: LangSmithClientName, method: string, values: Values): Values {
    const parameters = clients.methods(client)[method];
    const takesAny = WITH_ANY_FIELD.has(method) && parameters.includes('kwargs');
    return Object.fromEntries(Object.entries(values).filter(([name]) => takesAny || parameters.includes(name)));
  }

  function undocumentedOf({ method, url, body }: { method: string; url: string; body: unknown }): string[] {
    const place = new URL(url);
    if (place.pathname === INFO) return [];
    const names = openApi.undocumented({ method, url: place, body });
    return names.filter((name) => !(name.replace('?', '') in WITHOUT_EFFECT));
  }

  function note(client: LangSmithClientName, method: string, sent: { method: string; url: string }[]): void {
    const own = seen.get(method) ?? { clients: new Set(), places: new Set() };
    seen.set(method, own);
    own.clients.add(client);
    for (const { method: verb, url } of sent) own.places.add(`${verb} ${openApi.template(new URL(url), verb)}`);
  }
});
