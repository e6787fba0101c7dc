import type { ServerContext } from '@modelcontextprotocol/server';
import type { OpenAnswer } from '../http/open-answer';
import { CallStream } from './call-stream';
import type { RunEvent } from '../streams/run-event';
import { isJsonObject } from '../database/json';

/** Stream modes of a run whose caller requested progress. */
export const PROGRESS_MODES = ['updates', 'custom', 'messages-tuple'] as const;

interface Step {
  /** Given by the graph itself. */
  progress?: number;
  total?: number;
  message?: string;
}

/** Reports the progress of a run to a caller, in the protocol's terms: an increasing number, and a short text. */
export class CallProgress {
  private last: number;
  /** The progress of a graph that counts itself is not counted additionally. */
  private counts = false;

  private constructor(
    private readonly context: ServerContext,
    private readonly token: string | number,
    private readonly stream: CallStream | undefined,
    private readonly answer: OpenAnswer | undefined,
  ) {
    this.last = stream?.progress ?? -1;
  }

  /** Undefined if the caller didn't request progress. */
  static of(context: ServerContext): CallProgress | undefined {
    const token = context.mcpReq._meta?.progressToken;
    if (token === undefined) return undefined;
    const caller = context.http?.authInfo?.extra?.caller as { answer: OpenAnswer } | undefined;
    return new CallProgress(context, token, CallStream.of(context), caller?.answer);
  }

  /** One notification for each step, and one for text that arrives together, since models write faster than people read. */
  async reportProgress(events: RunEvent[]): Promise<void> {
    let text = '';
    for (const event of events) {
      text += textOf(event);
      const steps = stepsOf(event);
      if (steps.length === 0) continue;
      await this.say(text, event.seq - 1);
      text = '';
      // Of several steps in one event, the last one has reported it whole.
      for (const [index, step] of steps.entries()) {
        await this.notify(step, index === steps.length - 1 ? event.seq : event.seq - 1);
      }
    }
    await this.say(text, events.at(-1)?.seq ?? -1);
  }

  private async say(message: string, upTo: number): Promise<void> {
    if (message !== '') await this.notify({ message }, upTo);
  }

  /** @param upTo number of the run's event up to which everything is reported with this */
  private async notify({ progress, total, message }: Step, upTo: number): Promise<void> {
    if (progress === undefined && this.counts) return;
    if (progress !== undefined) this.counts = true;
    const next = progress ?? this.last + 1;
    if (next <= this.last) return;
    const { signal } = this.context.mcpReq;
    // The library would take any number of notifications, whether the client reads them or not.
    await this.answer?.drained(signal);
    if (signal.aborted) return;
    this.last = next;
    if (this.stream) Object.assign(this.stream, { after: upTo, progress: next });
    const params = { progressToken: this.token, progress: next, ...(total !== undefined && { total }) };
    await this.context.mcpReq.notify({
      method: 'notifications/progress',
      params: { ...params, ...(message !== undefined && { message }) },
    });
  }
}

/** A node that ended, by its name; what a node writes to the custom stream, with its own count if it has one. */
export function stepsOf({ event, data }: Pick<RunEvent, 'event' | 'data'>): Step[] {
  if (event === 'updates') {
    const update: unknown = JSON.parse(data);
    return isJsonObject(update)
      ? Object.keys(update)
          .filter((node) => !node.startsWith('__'))
          .map((message) => ({ message }))
      : [];
  }
  if (event !== 'custom') return [];
  const written: unknown = JSON.parse(data);
  if (typeof written === 'string') return [{ message: written }];
  if (!isJsonObject(written) || typeof written.progress !== 'number') return [{ message: data }];
  return [
    {
      progress: written.progress,
      ...(typeof written.total === 'number' && { total: written.total }),
      ...(typeof written.message === 'string' && { message: written.message }),
    },
  ];
}

/** The text of a piece of a model's answer. */
function textOf({ event, data }: RunEvent): string {
  if (event !== 'messages') return '';
  const [piece] = JSON.parse(data) as [{ type?: string; content?: unknown }];
  if (!piece.type?.startsWith('AI') && piece.type !== 'ai') return '';
  if (typeof piece.content === 'string') return piece.content;
  if (!Array.isArray(piece.content)) return '';
  return piece.content
    .map((block: unknown) => (isJsonObject(block) && typeof block.text === 'string' ? block.text : ''))
    .join('');
}
