import { JsonForm } from './json-form';
import {
  isMessage,
  isPromptValue,
  isSerializable,
  messageFields,
  type MessageLike,
  messageType,
  nameOfSerializable,
} from './langchain-values';

/** Streamed pieces of a message are distinguished from whole ones by their type: `AIMessageChunk` beside `ai`. */
function pieceType(message: MessageLike): string {
  const { name } = message.constructor;
  return name.endsWith('MessageChunk') ? name : messageType(message);
}

/**
 * JSON as LangGraph clients read it: messages are flat objects with a `type`, not LangChain's serialised constructors, and
 * of models and their like there is only the name. What JSON can't hold (functions, symbols, cycles) is left out or named,
 * never an exception: an odd value in a state must not end a run.
 * @param piece the message in the value that is one piece of a streamed message, if any; all others are whole, whatever
 * their class
 */
export function toWireJson(value: unknown, piece?: unknown): string {
  return JSON.stringify(new WireForm(piece).of('', value)) ?? 'null';
}

class WireForm extends JsonForm {
  constructor(private readonly piece: unknown) {
    super();
  }

  protected override ofInstance(value: object): unknown {
    if (isMessage(value)) {
      const type = value === this.piece ? pieceType(value) : messageType(value);
      return this.fields({ ...messageFields(value), type });
    }
    if (value instanceof Error) return { error: value.name, message: value.message };
    if (value instanceof Map) return this.fields(Object.fromEntries(value as Map<string, unknown>));
    if (value instanceof Set) return this.items([...(value as Set<unknown>)]);
    return isSerializable(value) && !isPromptValue(value) ? nameOfSerializable(value) : undefined;
  }
}
