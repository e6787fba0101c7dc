import { dirname, join } from 'node:path';
import ts from 'typescript';

/** Options that the client doesn't send to a server. */
const LOCAL = new Set(['signal', 'onRunCreated', 'streamIdleReconnect', 'includePagination', 'returnMinimal']);
/** Names of the client's objects of options. */
const OPTIONS = new Set(['options', 'payload', 'query']);

/** Signature of a method: positional parameters, and those in an object of options. */
export interface Signature {
  parameters: { name: string; kind: 'value' | 'options' | 'list of options' }[];
  /** Names of all parameters, including those of options. */
  names: Set<string>;
}

/** The public methods of the JavaScript client and their parameters, out of its type declarations: `runs.cancel` → … */
export function clientSignatures(): Map<string, Signature> {
  const types = join(dirname(require.resolve('@langchain/langgraph-sdk')), 'client', 'index.d.ts');
  const options = { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, strict: true };
  const program = ts.createProgram([types], options);
  const checker = program.getTypeChecker();
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(types)!)!);
  const client = checker.getDeclaredTypeOfSymbol(exported.find(({ name }) => name === 'Client')!);
  const signatures = new Map<string, Signature>();
  for (const part of client.getProperties().filter(isPublic)) {
    for (const method of checker.getTypeOfSymbol(part).getProperties().filter(isPublic)) {
      const overloads = checker.getTypeOfSymbol(method).getCallSignatures();
      if (overloads.length > 0) signatures.set(`${part.name}.${method.name}`, signatureOf(overloads));
    }
  }
  return signatures;

  function signatureOf(overloads: readonly ts.Signature[]): Signature {
    const longest = overloads.reduce((one, other) => (other.parameters.length >= one.parameters.length ? other : one));
    const names = overloads.flatMap(({ parameters }) => parameters.flatMap(namesOf)).filter((name) => !LOCAL.has(name));
    return {
      parameters: longest.parameters.map((each) => ({ name: each.name, kind: kindOf(each) })),
      names: new Set(names),
    };
  }

  function kindOf({ name }: ts.Symbol): 'value' | 'options' | 'list of options' {
    if (name === 'payloads') return 'list of options';
    return OPTIONS.has(name) ? 'options' : 'value';
  }

  function namesOf(parameter: ts.Symbol): string[] {
    return kindOf(parameter) === 'value' ? [parameter.name] : fieldsOf(checker.getTypeOfSymbol(parameter));
  }

  function fieldsOf(type: ts.Type): string[] {
    if (type.isUnion()) return type.types.flatMap(fieldsOf);
    if (checker.isArrayType(type)) return fieldsOf(checker.getTypeArguments(type as ts.TypeReference)[0]);
    if (type.flags & ts.TypeFlags.Undefined || type.symbol?.name === 'AbortSignal') return [];
    return type
      .getProperties()
      .map(({ name }) => name)
      .filter((name) => !name.startsWith('_'));
  }
}

function isPublic(symbol: ts.Symbol): boolean {
  const flags = symbol.valueDeclaration ? ts.getCombinedModifierFlags(symbol.valueDeclaration) : 0;
  return !/^[~_]/.test(symbol.name) && (flags & (ts.ModifierFlags.Private | ts.ModifierFlags.Protected)) === 0;
}
