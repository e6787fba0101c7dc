import { CronExpressionParser } from 'cron-parser';

/** An error in an expression, with its place: `position` counts characters from 0. */
export class CronSyntaxError extends Error {
  constructor(
    readonly reason: string,
    readonly position: number,
  ) {
    super(`${reason} (at position ${position})`);
    this.name = 'CronSyntaxError';
  }
}

/** Days of the week that match: all of them, the n-th of the month, or the month's last. 0 is Sunday. */
export interface WeekdayRule {
  weekdays: number[];
  nth?: number;
  last?: boolean;
}

/** A parsed expression: the values that match, sorted. */
export interface CronFields {
  seconds: number[];
  minutes: number[];
  hours: number[];
  months: number[];
  /** Absent: every day of the month. `last` is the month's last one. */
  daysOfMonth?: { days: number[]; last: boolean };
  /** Absent: every day of the week. */
  weekdays?: WeekdayRule[];
}

/** The field's name, its place in the library's expression (which has the seconds first), and the longest sensible step. */
const FIELDS = {
  minute: { at: 1, span: 59 },
  hour: { at: 2, span: 23 },
  'day of month': { at: 3, span: 30 },
  month: { at: 4, span: 11 },
  'day of week': { at: 5, span: 7 },
  second: { at: 0, span: 59 },
} as const;
type FieldName = keyof typeof FIELDS;
const ORDER = Object.keys(FIELDS) as FieldName[];

const MACROS: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

interface Token {
  text: string;
  position: number;
}

/**
 * Reads `minute hour day-of-month month day-of-week [second]`, or one of the macros. Lists, ranges, steps and names; `L` for
 * the month's last day, `5L` or `L5` for its last Friday, `5#2` for its second.
 * @throws {CronSyntaxError} with the place of the first fault
 */
export function parseCronExpression(expression: string): CronFields {
  const tokens = tokensOf(expression);
  if (tokens.length === 0) throw new CronSyntaxError('The expression is empty', 0);
  if (tokens[0].text.startsWith('@')) return parseCronExpression(macroOf(tokens));
  if (tokens.length < 5) {
    throw new CronSyntaxError(
      `Five fields are needed (minute, hour, day of month, month, day of week), and a sixth may follow for seconds; here are ${tokens.length}`,
      expression.trimEnd().length,
    );
  }
  if (tokens.length > 6) {
    throw new CronSyntaxError('There are at most six fields, of which the last is seconds', tokens[6].position);
  }
  const field = (name: FieldName): Token | undefined => tokens[ORDER.indexOf(name)];
  const numbers = (name: FieldName): number[] => {
    const token = field(name);
    return token ? union(itemsOf(token, name).map((item) => numbersOf(item, name))) : [0];
  };
  const dayOfMonth = field('day of month')!;
  const dayOfWeek = field('day of week')!;
  return {
    minutes: numbers('minute'),
    hours: numbers('hour'),
    ...(!isWildcard(dayOfMonth) && { daysOfMonth: daysOfMonth(dayOfMonth) }),
    months: numbers('month'),
    ...(!isWildcard(dayOfWeek) && { weekdays: weekdays(dayOfWeek) }),
    seconds: numbers('second'),
  };
}

function tokensOf(text: string, position = 0, separator = /[^ \t]+/g): Token[] {
  return [...text.matchAll(separator)].map((match) => ({ text: match[0], position: position + match.index }));
}

function macroOf([macro, ...rest]: Token[]): string {
  const expression = MACROS[macro.text.toLowerCase()];
  if (!expression) {
    throw new CronSyntaxError(
      `"${macro.text}" is not known: there are ${Object.keys(MACROS).join(', ')}`,
      macro.position,
    );
  }
  if (rest.length > 0) throw new CronSyntaxError(`Nothing may follow ${macro.text}`, rest[0].position);
  return expression;
}

/** `?` is how some dialects write a day field that doesn't matter. */
function isWildcard({ text }: Token): boolean {
  return text === '*' || text === '?';
}

function daysOfMonth(token: Token): NonNullable<CronFields['daysOfMonth']> {
  const items = itemsOf(token, 'day of month');
  const isLast = ({ text }: Token): boolean => text.toUpperCase() === 'L';
  const days = items.filter((item) => !isLast(item)).map((item) => numbersOf(item, 'day of month'));
  return { days: union(days), last: items.some(isLast) };
}

function weekdays(token: Token): WeekdayRule[] {
  const plain: number[][] = [];
  const rules: WeekdayRule[] = [];
  for (const item of itemsOf(token, 'day of week')) {
    // Both spellings of "the last Friday" are in use; the library knows the one that ends with L.
    const text = item.text.replace(/^L([0-7]|[A-Z]{3})$/i, '$1L');
    const { values, nthDay } = parsePart({ ...item, text }, 'day of week');
    const days = values.map((value) => Number.parseInt(String(value), 10) % 7);
    if (nthDay > 0) rules.push({ weekdays: days, nth: nthDay });
    else if (/L$/i.test(text)) rules.push({ weekdays: days, last: true });
    else plain.push(days);
  }
  return plain.length > 0 ? [{ weekdays: union(plain) }, ...rules] : rules;
}

function itemsOf(token: Token, name: FieldName): Token[] {
  const items = token.text.split(',');
  let { position } = token;
  return items.map((text) => {
    const item = { text, position };
    if (text === '') throw fault('An item of the list is empty', item, name);
    position += text.length + 1;
    return item;
  });
}

function numbersOf(item: Token, name: FieldName): number[] {
  return parsePart(item, name).values.map(Number);
}

/** One item of a field's list, as the library reads it in an expression in which nothing else can be wrong. */
function parsePart(item: Token, name: FieldName): { values: (number | string)[]; nthDay: number } {
  const { at, span } = FIELDS[name];
  // The library's H stands for a value that it draws at random: two readings of a schedule would differ.
  if (/^h/i.test(item.text)) throw fault(`"${item.text}": hashed values are not supported`, item, name);
  const step = /\/(\d+)$/.exec(item.text);
  if (step && Number(step[1]) > span) {
    throw fault(`A step of ${step[1]} is longer than the field, so it would match once`, item, name);
  }
  const fields = ['0', '0', '0', '*', '*', '*'];
  fields[at] = item.text;
  try {
    const parsed = CronExpressionParser.parse(fields.join(' ')).fields;
    const key = (['second', 'minute', 'hour', 'dayOfMonth', 'month', 'dayOfWeek'] as const)[at];
    return { values: [...parsed[key].values], nthDay: parsed.dayOfWeek.nthDay };
  } catch (error) {
    const said = (error instanceof Error ? error.message : String(error)).replace(/^.*?error, /i, '');
    throw fault(`"${item.text}": ${said}`, item, name);
  }
}

function fault(reason: string, { position }: Token, name: FieldName): CronSyntaxError {
  return new CronSyntaxError(`${reason} in the field ${name}`, position);
}

function union(lists: number[][]): number[] {
  return [...new Set(lists.flat())].sort((a, b) => a - b);
}
