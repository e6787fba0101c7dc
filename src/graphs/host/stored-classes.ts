import * as documents from '@langchain/core/documents';
import * as messages from '@langchain/core/messages';
import { messageType, type MessageLike } from './langchain-values';
import { buildsOf, importBuild } from './project-libraries';

export type StoredClass = new (fields: Record<string, unknown>) => object;
export type StoredClasses = ReadonlyMap<string, StoredClass>;

/** The names of the classes that a stored value may become an instance of: messages, each also in pieces. */
const MESSAGES = [
  ...['HumanMessage', 'AIMessage', 'SystemMessage', 'ToolMessage', 'FunctionMessage', 'ChatMessage', 'RemoveMessage'],
  ...['HumanMessageChunk', 'AIMessageChunk', 'SystemMessageChunk', 'ToolMessageChunk', 'FunctionMessageChunk'],
  'ChatMessageChunk',
];
const DOCUMENTS = ['Document'];
const MESSAGE_NAMES: ReadonlySet<string> = new Set(MESSAGES);

const BY_TYPE: ReadonlyMap<string, string> = new Map([
  ['human', 'HumanMessage'],
  ['ai', 'AIMessage'],
  ['system', 'SystemMessage'],
  ['tool', 'ToolMessage'],
  ['function', 'FunctionMessage'],
  ['generic', 'ChatMessage'],
  ['remove', 'RemoveMessage'],
]);

/** The classes of Gantry's own copy of LangChain. */
export const OWN_CLASSES: StoredClasses = new Map([
  ...named(messages as Record<string, unknown>, MESSAGES),
  ...named(documents as Record<string, unknown>, DOCUMENTS),
]);

const byProject = new Map<string, Promise<StoredClasses>>();

/** The classes of the project of the graph in `file`, so that messages read from a state are instances of its own classes. */
export function storedClassesOf(file: string): Promise<StoredClasses> {
  const known = byProject.get(file) ?? classesOfProject(file);
  byProject.set(file, known);
  return known;
}

async function classesOfProject(file: string): Promise<StoredClasses> {
  const [ofMessages, ofDocuments] = await Promise.all([
    importFrom(file, '@langchain/core/messages'),
    importFrom(file, '@langchain/core/documents'),
  ]);
  return new Map([...OWN_CLASSES, ...named(ofMessages, MESSAGES), ...named(ofDocuments, DOCUMENTS)]);
}

/** Empty where the project has no such library, or one that doesn't load. */
async function importFrom(file: string, library: string): Promise<Record<string, unknown>> {
  const [build] = buildsOf(file, library);
  return build === undefined ? {} : importBuild(build);
}

function named(library: Record<string, unknown>, names: string[]): [string, StoredClass][] {
  return names.flatMap((name) => {
    const found = library[name];
    return typeof found === 'function' ? [[name, found as StoredClass]] : [];
  });
}

interface MessageClass {
  name: string;
  lc_name?(): string;
}

const storedNames = new WeakMap<MessageClass, string>();

/** The name under which a message is stored: that of its class, or of the base class of a user's class. */
export function storedName(message: MessageLike): string | undefined {
  const made = message.constructor as MessageClass;
  const known = storedNames.get(made);
  if (known !== undefined) return known;
  for (let each: MessageClass | null = made; each; each = Object.getPrototypeOf(each) as MessageClass | null) {
    // A bundler may have renamed the class, but not what it says itself.
    const name = Object.hasOwn(each, 'lc_name') ? each.lc_name!() : each.name;
    if (MESSAGE_NAMES.has(name)) {
      storedNames.set(made, name);
      return name;
    }
  }
  return BY_TYPE.get(messageType(message));
}
