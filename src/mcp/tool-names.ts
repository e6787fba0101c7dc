import type { AssistantEntity } from '../assistants/assistant.entity';

/** The protocol's bound on the length of a tool's name. */
const MAX_LENGTH = 128;
/** Random characters of an assistant's id: enough to distinguish namesakes, few enough to read. */
const SUFFIX_LENGTH = 8;

export type NamedAssistant = Pick<AssistantEntity, 'assistantId' | 'graphId' | 'name' | 'createdAt'>;

/** Whether an id is that of a default assistant. Metadata doesn't say it: any client may write `created_by` there. */
export type IsDefault = (assistantId: string) => boolean;

/**
 * Name with the characters that the protocol allows: letters, digits, `_`, `-` and `.`; white space becomes `_`, others are
 * removed.
 */
export function toToolName(name: string): string {
  return name
    .trim()
    .replace(/\s+/g, '_')
    .replace(/[^A-Za-z0-9_.-]/g, '')
    .slice(0, MAX_LENGTH);
}

/**
 * A name for each assistant, and no name twice, in the order in which tools are listed: default assistants first, then the
 * older before the younger. Of namesakes the first keeps the name; the others have the end of their id appended.
 */
export function nameTools<T extends NamedAssistant>(assistants: T[], isDefault: IsDefault): Map<string, T> {
  const tools = new Map<string, T>();
  const sorted = [...assistants].sort((left, right) =>
    comparePositions(positionOf(left, isDefault), positionOf(right, isDefault)),
  );
  for (const assistant of sorted) {
    const name = toToolName(assistant.name) || toToolName(assistant.graphId) || 'assistant';
    const id = assistant.assistantId.replace(/-/g, '');
    const suffixes = ['', `_${id.slice(-SUFFIX_LENGTH)}`, `_${id}`];
    const free = suffixes
      .map((suffix) => `${name.slice(0, MAX_LENGTH - suffix.length)}${suffix}`)
      .find((candidate) => !tools.has(candidate));
    if (free !== undefined) tools.set(free, assistant);
  }
  return tools;
}

/** End of a page of tools, valid even if assistants are created or deleted between two pages. */
export function toCursor(assistant: NamedAssistant, isDefault: IsDefault): string {
  return Buffer.from(JSON.stringify(positionOf(assistant, isDefault))).toString('base64url');
}

/** Whether an assistant is listed after a cursor; undefined for a cursor that this server didn't issue. */
export function afterCursor(
  cursor: string,
  isDefault: IsDefault,
): ((assistant: NamedAssistant) => boolean) | undefined {
  const last = parseCursor(cursor);
  return last && ((assistant) => comparePositions(positionOf(assistant, isDefault), last) > 0);
}

type Position = [rank: number, createdAt: number, assistantId: string];

function positionOf({ createdAt, assistantId }: NamedAssistant, isDefault: IsDefault): Position {
  return [isDefault(assistantId) ? 0 : 1, createdAt.getTime(), assistantId];
}

function comparePositions(left: Position, right: Position): number {
  if (left[0] !== right[0]) return left[0] - right[0];
  if (left[1] !== right[1]) return left[1] - right[1];
  return left[2] < right[2] ? -1 : Number(left[2] > right[2]);
}

function parseCursor(cursor: string): Position | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (!Array.isArray(parsed)) return undefined;
    const [rank, createdAt, assistantId] = parsed as unknown[];
    if (typeof rank !== 'number' || typeof createdAt !== 'number' || typeof assistantId !== 'string') return undefined;
    return [rank, createdAt, assistantId];
  } catch {
    // Anything that a client made up.
    return undefined;
  }
}
