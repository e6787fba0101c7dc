/** An operation of the served OpenAPI document. */
export interface Operation {
  method: string;
  /** Path in the form of OpenAPI: `/threads/{thread_id}`. */
  path: string;
  /** Schema of its JSON body; undefined where it takes none. */
  body: Schema | undefined;
  /** Names of the parameters of its query. */
  query: string[];
}

export interface Schema {
  $ref?: string;
  type?: string | string[];
  format?: string;
  pattern?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  items?: Schema;
  minItems?: number;
  minimum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Document {
  paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { content: Record<string, { schema?: Schema }> };
        parameters?: { name: string; in: string }[];
      }
    >
  >;
  components?: { schemas?: Record<string, Schema> };
}

/** The operations that a server describes, with every reference resolved. */
export async function describedOperations(url: string, headers: Record<string, string> = {}): Promise<Operation[]> {
  const response = await fetch(`${url}/openapi.json`, { headers });
  const document = (await response.json()) as Document;
  const resolve = (schema: Schema | undefined): Schema | undefined => {
    const name = schema?.$ref?.replace('#/components/schemas/', '');
    return name === undefined ? schema : document.components?.schemas?.[name];
  };
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { requestBody, parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      body: resolve(requestBody?.content['application/json']?.schema),
      query: parameters.filter((each) => each.in === 'query').map(({ name }) => name),
    })),
  );
}

/** A value that a schema accepts, as far as it says what it accepts. @param given values by the names of fields */
export function sampleOf(schema: Schema, given: Record<string, unknown>): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [alternative] = schema.anyOf ?? schema.oneOf ?? [];
  if (alternative) return sampleOf(alternative, given);
  if (schema.allOf) return Object.assign({}, ...schema.allOf.map((each) => sampleOf(each, given))) as unknown;
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case 'string':
      if (schema.format === 'uuid') return '7e4d2c3b-0000-4000-8000-000000000000';
      if (schema.format === 'date-time') return '2026-01-01T00:00:00Z';
      return schema.format === 'uri' ? 'https://example.com/' : 'sample';
    case 'integer':
    case 'number':
      return Math.max(1, schema.minimum ?? 1);
    case 'boolean':
      return true;
    case 'array':
      return schema.items && (schema.minItems ?? 0) > 0 ? [sampleOf(schema.items, given)] : [];
    default:
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, given[name] ?? sampleOf(schema.properties?.[name] ?? {}, given)]),
      );
  }
}
