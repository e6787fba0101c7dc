import * as fc from 'fast-check';
import { FilterError } from './filter-error';
import { parseFilter } from './filter-parser';
import { filterToSql } from './filter-sql';
import { SqlParams } from './sql-params';

const compile = (text: string) => {
  const params = new SqlParams();
  return { sql: filterToSql(parseFilter(text), params), values: params.values };
};

function errorOf(text: string): FilterError {
  try {
    compile(text);
  } catch (error) {
    if (error instanceof FilterError) return error;
    throw error;
  }
  throw new Error(`${text} was accepted`);
}

describe('filter language', () => {
  it('reads nested calls, whatever the white space', () => {
    expect(parseFilter(' and( eq ( run_type , "llm" ) ,\n\tgt(latency,"5s"))')).toEqual({
      kind: 'and',
      operands: [
        { kind: 'comparison', comparator: 'eq', field: 'run_type', values: ['llm'], position: 22 },
        { kind: 'comparison', comparator: 'gt', field: 'latency', values: ['5s'], position: 44 },
      ],
    });
  });

  it.each([
    [`eq(name, "say \\"hi\\" \\\\ \\n \\u00e9 \\x41")`, 'say "hi" \\ \n é A'],
    [`eq(name, 'it\\'s')`, "it's"],
    ['eq(name, "\\/path")', '/path'],
    ['eq(name, "\ud83d\ude00 \\ud83d\\ude00")', '\ud83d\ude00 \ud83d\ude00'],
  ])('unescapes %s', (text, value) => {
    expect(compile(text).values).toEqual([value]);
  });

  it.each([
    ['eq(total_tokens, -1.5e2)', -150],
    ['eq(is_root, True)', undefined],
    ['eq(total_tokens, 12345678901234567890)', '12345678901234567890'],
    ['eq(metadata_value, -12345678901234567890)', '-12345678901234567890'],
    ['gt(latency, 12345678901234567890)', 12345678901234567000],
    ['gt(start_time, 2026-11-20)', '2026-11-20T00:00:00.000000Z'],
    ['gt(start_time, 2026-11-20T10:00:00.5+02:00)', '2026-11-20T08:00:00.500000Z'],
    ['gt(start_time, "2026-11-20T10:00:00")', '2026-11-20T10:00:00.000000Z'],
    ['gt(latency, "300ms")', 0.3],
    ['gt(latency, "2m")', 120],
    ['gt(latency, 5)', 5],
    ['eq(status, "SUCCESS")', 'success'],
  ])('reads the literal of %s', (text, value) => {
    expect(compile(text).values[0]).toEqual(value);
  });

  it.each([
    ['', 0, 'expected an operator'],
    ['eq', 2, 'expected ('],
    ['eq(', 3, 'expected a field'],
    ['eq(name', 7, 'expected ,'],
    ['eq(name, )', 9, 'expected a value'],
    ['eq(name, "a"', 12, 'expected )'],
    ['eq(name, "a")) ', 13, 'unexpected )'],
    ['and()', 4, 'expected an operator'],
    ['and(eq(name, "a"),)', 18, 'expected an operator'],
    ['and(eq(name, "a") eq(name, "b"))', 18, 'expected )'],
    ['xor(eq(name, "a"))', 0, 'unknown operator xor'],
    ['eq(colour, "red")', 3, 'unknown field colour'],
    ['eq(constructor, "red")', 3, 'unknown field constructor'],
    ['eq("name", "a")', 3, 'expected a field'],
    ['has(name, "a")', 4, "has can't be asked of name"],
    ['eq(name, "a', 9, 'the string is not closed'],
    ['eq(name, "a\\', 9, 'the string is not closed'],
    ['eq(name, "\\u12")', 10, 'hexadecimal'],
    ['eq(name, ["a"])', 9, 'expected a value'],
    ['in(name, ["a", ])', 15, 'expected a value'],
    ['in(name, ["a" "b"])', 14, 'expected ]'],
    ['eq(name, @)', 9, 'unexpected character "@"'],
    ['eq(id, "x")', 7, 'id is compared with a UUID'],
    ['gt(start_time, "soon")', 15, 'ISO 8601'],
    ['gt(latency, "fast")', 12, 'seconds'],
    ['gt(total_tokens, "many")', 17, 'a number'],
    ['gt(total_tokens, 1e999)', 17, 'too large'],
    ['gt(total_tokens, null)', 17, 'needs a value'],
    ['eq(is_root, "maybe")', 12, 'true or false'],
    ['eq(metadata, "[1]")', 13, 'JSON object'],
    ['search(1)', 7, 'search() needs a string'],
    ['eq(id, 12345678901234567890)', 7, 'not with 12345678901234567890'],
    ['eq(12345678901234567890, 1)', 3, 'found 12345678901234567890'],
  ])('reports the position of the error in %s', (text, position, reason) => {
    const error = errorOf(text);
    expect(error.reason).toContain(reason);
    expect(error.position).toBe(position);
    expect(error.message).toContain(`at position ${position}`);
  });

  it('binds values to their keys in either order', () => {
    const keyFirst =
      'and(eq(metadata_key, "a"), eq(metadata_value, "1"), eq(metadata_key, "b"), eq(metadata_value, "2"))';
    const valueFirst =
      'and(eq(metadata_value, "1"), eq(metadata_key, "a"), eq(metadata_value, "2"), eq(metadata_key, "b"))';
    expect(compile(valueFirst)).toEqual(compile(keyFirst));
    expect(compile(keyFirst).values).toEqual(['a', '1', 'b', '2']);
  });

  it('bounds depth, length, conditions and lists', () => {
    const nest = (depth: number): string => `${'not('.repeat(depth)}eq(name, "a")${')'.repeat(depth)}`;
    expect(() => parseFilter(nest(60))).not.toThrow();
    expect(() => parseFilter(nest(64))).toThrow('nest at most');
    expect(() => parseFilter(nest(100_000))).toThrow(FilterError);
    expect(() => parseFilter(`eq(name, "${'a'.repeat(70_000)}")`)).toThrow('at most 65536 characters');
    expect(() => parseFilter(`in(name, [${Array(1001).fill('1').join(',')}])`)).toThrow('at most 1000 values');
    expect(() => parseFilter(`and(${Array(1001).fill('eq(name,1)').join(',')})`)).toThrow('at most 1000 conditions');
    const words = (count: number, length = 1): string => Array(count).fill('w'.repeat(length)).join(' ');
    expect(() => parseFilter(`search("${words(50)}")`)).not.toThrow();
    expect(() => parseFilter(`search("${words(51)}")`)).toThrow('at most 50 words (at position 7)');
    expect(() => parseFilter(`search(inputs, "${words(3, 1_000)}")`)).toThrow('at most 2000 characters together');
    expect(() => parseFilter(`and(search("${words(30)}"), search(name, "${words(30)}"))`)).toThrow('at most 50 words');
    expect(() => parseFilter(`like(inputs, "${'%a'.repeat(51)}")`)).toThrow('at most 50 words');
  });

  it('puts no character of a value into the SQL text', () => {
    const evil = `'); DROP TABLE trace_runs; -- $1 %s \\' /* "`;
    const quoted = JSON.stringify(evil);
    const texts = [
      `eq(name, ${quoted})`,
      `in(name, [${quoted}])`,
      `like(name, ${quoted})`,
      `search(${quoted})`,
      `has(tags, ${quoted})`,
      `has(metadata, ${quoted})`,
      `and(eq(metadata_key, ${quoted}), eq(metadata_value, ${quoted}))`,
      `eq(input_value, ${quoted})`,
      `eq(feedback_comment, ${quoted})`,
    ];
    for (const text of texts) {
      const { sql, values } = compile(text);
      expect(sql).not.toContain('DROP');
      expect(JSON.stringify(values)).toContain('DROP');
    }
  });

  it('answers any text with an expression or a FilterError, never with anything else', () => {
    const fragment = fc.oneof(
      fc.constantFrom(
        'and',
        'or',
        'not',
        'eq',
        'in',
        'search',
        'name',
        'tags',
        'metadata_key',
        'latency',
        'start_time',
      ),
      fc.constantFrom('(', ')', '[', ']', ',', '"', "'", '\\', ' ', '-', '.', '\0', '\ud800', '€', '$1', ';', '--'),
      fc.constantFrom('1', '1e999', '2026-01-01', '"5s"', 'null', 'true', '"a"', 'eq(name, "a")', '\\u12'),
      fc.string({ unit: 'binary', maxLength: 5 }),
    );
    const text = fc.array(fragment, { minLength: 1, maxLength: 14 }).map((fragments) => fragments.join(''));
    fc.assert(
      fc.property(text, (given) => {
        try {
          compile(given);
        } catch (error) {
          if (!(error instanceof FilterError)) throw error;
        }
      }),
      { numRuns: 20_000, seed: jest.getSeed() },
    );
  });

  it('puts no value into the SQL text, whatever it is', () => {
    const forms = [
      'eq(name, V)',
      'in(tags, [V])',
      'like(error, V)',
      'search(V)',
      'has(tags, V)',
      'exists(metadata, V)',
    ];
    // A search has a condition for each of its words.
    const anyText = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !/\s/.test(text));
    fc.assert(
      fc.property(fc.constantFrom(...forms), anyText, (form, value) => {
        // The same text for every value: all that differs is in the parameters.
        expect(compile(form.replace('V', () => JSON.stringify(value))).sql).toBe(compile(form.replace('V', '"x"')).sql);
      }),
      { numRuns: 2_000, seed: jest.getSeed() },
    );
  });
});
