import { dirname, join } from 'node:path';
import ts from 'typescript';
import { snakeCase } from '../names';

/** One parameter of a method: a value, or an object whose fields are named. */
interface Parameter {
  /** Name of a value; undefined for an object of fields. */
  name?: string;
  /** Names of the fields of an object, as the client spells them. */
  fields: string[];
  /** Fields that are a `Date`. */
  dates: string[];
}

/** A method of the client, at its path in the client: `['runs', 'queryV2']`. */
export interface JavaScriptMethod {
  path: string[];
  parameters: Parameter[];
}

/** Options that the client doesn't send: the address of another server, and its way of sending. */
const LOCAL = new Set(['apiKey', 'apiUrl', 'workspaceId', 'sizeBytes', 'useGzip']);
/** Types of parameters that describe the connection. */
const LOCAL_TYPES = new Set(['RequestOptions']);

/** The public methods of the JavaScript client of LangSmith and its resources, out of its type declarations: `runs.query_v2` → … */
export function javascriptSignatures(): Map<string, JavaScriptMethod> {
  const types = join(dirname(require.resolve('langsmith')), 'lib', 'client.d.ts');
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true };
  const program = ts.createProgram([types], options);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(types)!)!);
  const client = checker.getDeclaredTypeOfSymbol(exported.find(({ name }) => name === 'Client')!);
  const found = new Map<string, JavaScriptMethod>();
  collect(client, []);
  return found;

  function collect(owner: ts.Type, path: string[]): void {
    for (const member of owner.getProperties().filter(isPublic)) {
      const type = checker.getTypeOfSymbol(member);
      const [overload] = type.getCallSignatures();
      const place = [...path, member.name];
      if (overload) found.set(nameOf(place), { path: place, parameters: overload.parameters.flatMap(parameterOf) });
      else if (isResource(type)) collect(type, place);
    }
  }

  function parameterOf(parameter: ts.Symbol): Parameter[] {
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(parameter));
    if (parameter.name === 'params' && !isObject(type)) return [{ fields: [...new Set(fieldsOf(type))], dates: [] }];
    if (LOCAL_TYPES.has(type.aliasSymbol?.name ?? type.symbol?.name)) return [];
    const fields = isObject(type) ? fieldsOf(type).filter((field) => !LOCAL.has(field)) : [];
    if (isObject(type)) return [{ fields: [...new Set(fields)], dates: fields.filter((field) => isDate(type, field)) }];
    return [{ name: parameter.name, fields: [], dates: [] }];
  }

  function fieldsOf(type: ts.Type): string[] {
    return type.isUnion() ? type.types.flatMap(fieldsOf) : type.getProperties().map(({ name }) => name);
  }

  function isObject(type: ts.Type): boolean {
    const parts = type.isUnion() ? type.types : [type];
    return parts.every((part) => (part.flags & ts.TypeFlags.Object) !== 0 && !checker.isArrayLikeType(part));
  }

  function isDate(type: ts.Type, field: string): boolean {
    const property = type.getProperty(field);
    return (
      property !== undefined && checker.getNonNullableType(checker.getTypeOfSymbol(property)).symbol?.name === 'Date'
    );
  }

  /** A part of the client that OpenAPI generated has the client that it belongs to. */
  function isResource(type: ts.Type): boolean {
    return type.getProperty('_client') !== undefined;
  }
}

/** `runs.retrieveV2` is `runs.retrieve_v2`, `getURL` is `get_url`, as Python spells them. */
function nameOf(path: string[]): string {
  return path.map((part) => snakeCase(part.replace('URL', 'Url').replace('LLM', 'Llm'))).join('.');
}

function isPublic(symbol: ts.Symbol): boolean {
  const flags = symbol.valueDeclaration ? ts.getCombinedModifierFlags(symbol.valueDeclaration) : 0;
  return !/^[~_#]/.test(symbol.name) && (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0;
}
