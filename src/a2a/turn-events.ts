import { type Artifact, Role, type StreamResponse, type TaskStatus } from '@a2a-js/sdk';
import { END_EVENT, type RunEvent } from '../streams/run-event';
import { isAccepted, partOf, partsOfContent, tailorParts, textOf, textPart } from './a2a-content';
import { ANSWER_ID, answerArtifact } from './a2a-outcome';
import { taskMessage, taskStateOf } from './a2a-task.mapper';
import type { TaskRow } from './a2a-tasks.repository';

interface MessagePiece {
  id?: string;
  type?: string;
  content?: unknown;
}

/**
 * Turns the log of a run into the events of its task, as a function of the log alone: every stream of a task emits the same
 * ones in the same order, however late it began.
 *
 * Tokens are pieces of the answer artifact. When the model is called again (the next message of an agent's loop, another
 * attempt after a worker's death) the first piece replaces the earlier ones. One piece is always held back, so that the last
 * one can be marked.
 */
export class TurnEvents {
  /** The answer from the streamed pieces so far, without the held one. */
  private emittedText = '';
  private held: { text: string; append: boolean } | undefined;
  private messageId: string | undefined;
  private readonly streamsText: boolean;

  constructor(private readonly task: Pick<TaskRow, 'taskId' | 'contextId' | 'runId' | 'outputModes'>) {
    const { outputModes } = task;
    this.streamsText = outputModes.length === 0 || isAccepted('text/plain', outputModes);
  }

  /** The answer as far as it was emitted, for a client that joins now. */
  get soFar(): Artifact | undefined {
    return this.emittedText === '' ? undefined : answerArtifact([textPart(this.emittedText)]);
  }

  /** Applies an event that other streams have emitted already. */
  absorb(event: RunEvent): void {
    for (const ignored of this.translate(event)) void ignored;
  }

  *translate({ event, data, seq }: RunEvent): Generator<StreamResponse> {
    if (event === 'metadata') {
      // Another attempt repeats everything from its checkpoint on.
      this.messageId = undefined;
    } else if (event === 'messages' && this.streamsText) {
      yield* this.piece((JSON.parse(data) as [MessagePiece])[0]);
    } else if (event === 'custom') {
      yield this.progress([partOf(JSON.parse(data))], seq, undefined);
    } else if (event === 'updates') {
      const nodes = Object.keys(JSON.parse(data) as Record<string, unknown>).filter((name) => !name.startsWith('__'));
      if (nodes.length > 0) yield this.progress([], seq, { node: nodes.join(', ') });
    }
  }

  /** The rest of the answer: the held piece if the pieces are the answer, else the answer as a whole. */
  *finish(artifacts: Artifact[]): Generator<StreamResponse> {
    for (const artifact of artifacts) {
      const { held } = this;
      this.held = undefined;
      const whole = artifact.artifactId === ANSWER_ID ? textOf(artifact.parts) : undefined;
      const text = held && (held.append ? this.emittedText + held.text : held.text);
      if (held && text === whole) yield this.chunk([textPart(held.text)], held.append, true);
      else yield this.update(artifact, false, true);
    }
    // A failed turn keeps its answer so far.
    yield* this.release();
  }

  private *piece({ id, type, content }: MessagePiece): Generator<StreamResponse> {
    if (type !== 'AIMessageChunk' && type !== 'ai') return;
    const text = partsOfContent(content)
      .map((part) => (part.content?.$case === 'text' ? part.content.value : ''))
      .join('');
    if (text === '') return;
    const goesOn = this.messageId !== undefined && this.messageId === id;
    // A message that a node has streamed and returns is emitted once more, as a whole.
    if (goesOn && type === 'ai') return;
    this.messageId = id;
    yield* this.release();
    this.held = { text, append: goesOn };
  }

  private *release(): Generator<StreamResponse> {
    const { held } = this;
    if (!held) return;
    this.emittedText = held.append ? this.emittedText + held.text : held.text;
    this.held = undefined;
    yield this.chunk([textPart(held.text)], held.append, false);
  }

  private chunk(parts: Artifact['parts'], append: boolean, lastChunk: boolean): StreamResponse {
    return this.update(answerArtifact(parts), append, lastChunk);
  }

  private update(artifact: Artifact, append: boolean, lastChunk: boolean): StreamResponse {
    const { taskId, contextId } = this.task;
    const value = { taskId, contextId, artifact, append, lastChunk, metadata: undefined };
    return { payload: { $case: 'artifactUpdate', value } };
  }

  private progress(
    parts: Artifact['parts'],
    seq: number,
    metadata: Record<string, unknown> | undefined,
  ): StreamResponse {
    const { taskId, contextId, runId, outputModes } = this.task;
    const message =
      parts.length > 0
        ? taskMessage(this.task, Role.ROLE_AGENT, `${runId}/${seq}`, tailorParts(parts, outputModes))
        : undefined;
    const status: TaskStatus = { state: taskStateOf('working'), message, timestamp: undefined };
    return { payload: { $case: 'statusUpdate', value: { taskId, contextId, status, metadata } } };
  }
}

export const endsTurn = ({ event }: RunEvent): boolean => event === END_EVENT;
