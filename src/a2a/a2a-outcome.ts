import type { Artifact, Part } from '@a2a-js/sdk';
import type { FinalState } from '../graphs/host/protocol';
import type { RunEnding } from '../runs/run-ending';
import { dataPart, partOf, partsOfContent } from './a2a-content';

/** The only artifact of a task: the agent's answer. Streamed pieces and the whole have the same id. */
export const ANSWER_ID = 'response';

/** Result of a turn: the answer, and the graph's questions if it waits for an answer. */
export interface Outcome {
  awaitsInput: boolean;
  artifacts: Artifact[];
  question: Part[];
}

interface WireMessage {
  type?: string;
  content?: unknown;
}

export function answerArtifact(parts: Part[]): Artifact {
  return { artifactId: ANSWER_ID, name: 'Response', description: '', parts, metadata: undefined, extensions: [] };
}

/** @param ending how the turn's run ended, with the state that the graph left */
export function outcomeOf({ status, state }: RunEnding): Outcome {
  if (!state || status === 'deleted') return { awaitsInput: false, artifacts: [], question: [] };
  const awaitsInput = status === 'success' && state.next.length > 0;
  const parts = answerOf(state, status === 'success' && !awaitsInput);
  return {
    awaitsInput,
    artifacts: parts.length > 0 ? [answerArtifact(parts)] : [],
    question: awaitsInput ? questionOf(state) : [],
  };
}

/** The agent's last message of the turn. A graph without messages answers with its values once it has ended. */
function answerOf({ values: json }: FinalState, isDone: boolean): Part[] {
  const values = JSON.parse(json) as unknown;
  if (typeof values !== 'object' || values === null || Array.isArray(values)) return isDone ? [dataPart(values)] : [];
  const { messages, ...others } = values as { messages?: unknown };
  if (!Array.isArray(messages)) return isDone ? [dataPart(values)] : [];
  const said = (messages as WireMessage[]).slice(lastIndex(messages as WireMessage[], 'human') + 1);
  for (const { content } of said.filter(({ type }) => type === 'ai' || type === 'AIMessageChunk').reverse()) {
    const parts = partsOfContent(content);
    if (parts.length > 0) return parts;
  }
  return isDone ? [dataPart(others)] : [];
}

function lastIndex(messages: WireMessage[], type: string): number {
  return messages.map((message) => message.type).lastIndexOf(type);
}

interface Interrupt {
  id?: string;
  value?: unknown;
}

/**
 * The questions of the interrupts, each as a part that names its interrupt. A breakpoint has none, and names the next nodes.
 */
function questionOf({ interrupts, next }: FinalState): Part[] {
  const asked = Object.values(JSON.parse(interrupts) as Record<string, Interrupt[]>).flat();
  if (asked.length === 0) return [partOf(`Stopped before ${next.join(', ')}: send a message to continue`)];
  return asked.map(({ id, value }) => ({ ...partOf(value ?? null), metadata: id ? { interrupt_id: id } : undefined }));
}
