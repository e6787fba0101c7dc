interface Operation {
  parameters?: { in: string; name: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Schema {
  $ref?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Paths {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A request of a client as it was sent. */
export interface SentRequest {
  method: string;
  url: URL;
  /** Parsed JSON; undefined without a body. */
  body: unknown;
}

/** The OpenAPI document of a running server, asked about requests. */
export class OpenApiDocument {
  private constructor(private readonly document: Paths) {}

  static async of(apiUrl: string): Promise<OpenApiDocument> {
    return new OpenApiDocument((await (await fetch(`${apiUrl}/openapi.json`)).json()) as Paths);
  }

  /**
   * The documented path of a request, the one with the fewest variables; the request's own where none fits.
   * @param method of the request, where several paths differ only in the names of their variables
   */
  template({ pathname }: URL, method?: string): string {
    const parts = pathname.split('/');
    const fits = (path: string): boolean => {
      const own = path.split('/');
      return own.length === parts.length && own.every((part, index) => part.startsWith('{') || part === parts[index]);
    };
    const variables = (path: string): number => path.split('{').length;
    const [path = pathname] = Object.keys(this.document.paths)
      .filter((each) => fits(each) && (!method || method.toLowerCase() in this.document.paths[each]))
      .sort((one, other) => variables(one) - variables(other));
    return path;
  }

  /**
   * Undocumented parts of a request: query parameters as `?name`, properties of the body by their name.
   * @param toName gives a property of the body its name in the document
   * @throws for an operation that is not documented
   */
  undocumented({ method, url, body }: SentRequest, toName = (key: string): string => key): string[] {
    const path = this.template(url, method);
    const operation = this.document.paths[path]?.[method.toLowerCase()];
    if (!operation) throw new Error(`openapi.json has no ${method} ${path}`);
    const { parameters = [], requestBody } = operation;
    const queries = parameters.filter((each) => each.in === 'query').map((each) => each.name);
    const schema = requestBody?.content['application/json']?.schema;
    const bodies = Array.isArray(body) ? body : body === undefined || body === null ? [] : [body];
    const keys = bodies.flatMap((each) => Object.keys(each as object).map(toName));
    const known = schema ? this.propertiesOf(schema) : [];
    // A body that is documented as bytes is checked by what reads it.
    const isRaw = requestBody !== undefined && known.length === 0;
    return [
      ...[...url.searchParams.keys()].filter((key) => !queries.includes(key)).map((key) => `?${key}`),
      ...new Set(keys.filter((key) => !isRaw && !known.includes(key))),
    ];
  }

  private propertiesOf(schema: Schema): string[] {
    if (schema.$ref) return this.propertiesOf(this.document.components.schemas[schema.$ref.split('/').at(-1)!]);
    const parts = [
      ...(schema.anyOf ?? []),
      ...(schema.oneOf ?? []),
      ...(schema.allOf ?? []),
      ...(schema.items ? [schema.items] : []),
    ];
    return [...Object.keys(schema.properties ?? {}), ...parts.flatMap((part) => this.propertiesOf(part))];
  }
}
