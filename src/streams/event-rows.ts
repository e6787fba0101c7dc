import type { NewRunEvent, RunEvent } from './run-event';

/** The part of an event that it doesn't share with all of its run's others. */
export type EventContent = Pick<NewRunEvent, 'event' | 'data' | 'fact'>;

/** A row of the log: one event, or several of the same name that follow each other. */
export interface EventRow {
  /** Sequence number of the first of several events; null for a row of one. */
  firstSeq: number | null;
  /** Sequence number of the only or last event. */
  seq: number;
  event: string;
  /** JSON text of one event, or the joined texts of several. */
  data: string;
}

/** Maximum of events in a row: readers take rows as wholes. */
const ROW_EVENTS = 64;
/** Maximum of characters of a row's events, before what they have in common is stored once. */
const ROW_CHARACTERS = 32 * 1024;
/** Separates texts of one line each. JSON text has no bare line breaks. */
const SEPARATOR = '\n';

/**
 * Distributes events that follow each other over rows.
 * @param first the sequence number of the first event
 */
export function toRows(events: readonly EventContent[], first: number): (EventRow & Pick<EventContent, 'fact'>)[] {
  let seq = first - 1;
  return groups(events).map((group) => {
    seq += group.length;
    if (group.length === 1) return { ...group[0], firstSeq: null, seq };
    return {
      firstSeq: seq - group.length + 1,
      seq,
      event: group[0].event,
      data: joinTexts(group.map(({ data }) => data)),
    };
  });
}

function groups(events: readonly EventContent[]): EventContent[][] {
  const found: EventContent[][] = [];
  let characters = 0;
  for (const next of events) {
    const group = found.at(-1);
    characters += next.data.length;
    if (group && group.length < ROW_EVENTS && characters <= ROW_CHARACTERS && canShare(group[0], next)) {
      group.push(next);
    } else {
      found.push([next]);
      characters = next.data.length;
    }
  }
  return found;
}

/** Whether two events may be in the same row: those that a repeated attempt looks for by their fact are in rows of their own. */
function canShare(first: EventContent, second: EventContent): boolean {
  return (
    first.event === second.event &&
    first.fact === undefined &&
    second.fact === undefined &&
    isOneLine(first.data) &&
    isOneLine(second.data)
  );
}

/** The events of a row that follow the event `after`. */
export function eventsOf({ firstSeq, seq, event, data }: EventRow, after = -1): RunEvent[] {
  if (firstSeq === null) return [{ seq, event, data }];
  const events = splitTexts(data).map((text, index) => ({ seq: firstSeq + index, event, data: text }));
  return firstSeq > after ? events : events.slice(after + 1 - firstSeq);
}

/**
 * Joins texts of one line each. The frames of a model's tokens differ in a few characters of about a thousand, so what all of
 * them begin and end with is stored once, in the first two lines.
 */
function joinTexts(texts: string[]): string {
  const [first] = texts;
  const shortest = Math.min(...texts.map(({ length }) => length));
  let start = first.slice(0, shortest);
  for (const text of texts) start = sharedStart(start, text.slice(0, start.length));
  if (isHighSurrogate(start.charCodeAt(start.length - 1))) start = start.slice(0, -1);
  let end = first.slice(first.length - shortest + start.length);
  for (const text of texts) end = sharedEnd(end, text.slice(text.length - end.length));
  if (isLowSurrogate(end.charCodeAt(0))) end = end.slice(1);
  const middles = texts.map((text) => text.slice(start.length, text.length - end.length));
  return [start, end, ...middles].join(SEPARATOR);
}

/** The beginning that two texts of the same length share. Comparing them takes a fortieth of the time of `startsWith`. */
function sharedStart(one: string, other: string): string {
  if (one === other) return one;
  let shared = 0;
  while (one.charCodeAt(shared) === other.charCodeAt(shared)) shared += 1;
  return one.slice(0, shared);
}

/** The end that two texts of the same length share. */
function sharedEnd(one: string, other: string): string {
  if (one === other) return one;
  let from = one.length;
  while (one.charCodeAt(from - 1) === other.charCodeAt(from - 1)) from -= 1;
  return one.slice(from);
}

function splitTexts(joined: string): string[] {
  const [start, end, ...rest] = joined.split(SEPARATOR);
  return rest.map((middle) => start + middle + end);
}

const isOneLine = (text: string): boolean => !text.includes(SEPARATOR);
/** Half of a character outside of the Basic Multilingual Plane: alone, it can't be encoded. */
const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;
const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code < 0xe000;
