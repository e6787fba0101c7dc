import { COMPARATORS, Comparator } from './comparators';
import { FilterExpression, FilterLiteral } from './filter-ast';
import { describeLiteral, FilterError } from './filter-error';
import { FIELD_KINDS, fieldDefinition, FILTER_FIELDS, FilterField, isFilterField } from './filter-fields';
import { filterToSql } from './filter-sql';
import { Token, tokenize } from './filter-tokens';
import { SearchBudget } from './search-budget';
import { SqlParams } from './sql-params';

/** More than any real filter needs, and within the stacks of the parser and the database. */
const MAX_LENGTH = 65_536;
const MAX_DEPTH = 64;
const MAX_OPERANDS = 1_000;

/**
 * Reads a filter such as `and(eq(run_type, "llm"), gt(latency, "5s"))`.
 * @param budget of the query that the filter is part of
 * @throws {FilterError} with the position of what is wrong.
 */
export function parseFilter(text: string, budget = new SearchBudget()): FilterExpression {
  if (text.length > MAX_LENGTH) throw new FilterError(`a filter has at most ${MAX_LENGTH} characters`, MAX_LENGTH);
  const expression = new Parser(tokenize(text), budget).parse();
  // Building the SQL shows whether a value fits its field.
  filterToSql(expression, new SqlParams());
  return expression;
}

class Parser {
  private index = 0;
  private operands = 0;

  constructor(
    private readonly tokens: Token[],
    private readonly budget: SearchBudget,
  ) {}

  parse(): FilterExpression {
    const expression = this.expression(0);
    const rest = this.peek();
    if (rest.type !== 'end')
      throw new FilterError(`unexpected ${describe(rest)} after the end of the filter`, rest.position);
    return expression;
  }

  private expression(depth: number): FilterExpression {
    const token = this.next();
    if (token.type !== 'name') {
      throw new FilterError(`expected an operator such as and() or eq(), found ${describe(token)}`, token.position);
    }
    if (depth >= MAX_DEPTH) throw new FilterError(`filters nest at most ${MAX_DEPTH} levels`, token.position);
    this.operands += 1;
    if (this.operands > MAX_OPERANDS)
      throw new FilterError(`a filter has at most ${MAX_OPERANDS} conditions`, token.position);
    const operator = token.name.toLowerCase();
    this.expect('(');
    if (operator === 'and' || operator === 'or') {
      const operands = [this.expression(depth + 1)];
      while (this.accept(',')) operands.push(this.expression(depth + 1));
      this.expect(')');
      return { kind: operator, operands };
    }
    if (operator === 'not') {
      const operand = this.expression(depth + 1);
      this.expect(')');
      return { kind: 'not', operand };
    }
    if (!isComparator(operator)) {
      throw new FilterError(
        `unknown operator ${token.name}: use and, or, not, ${COMPARATORS.join(', ')}`,
        token.position,
      );
    }
    const comparison = this.comparison(operator);
    this.expect(')');
    return comparison;
  }

  private comparison(comparator: Comparator): FilterExpression {
    const first = this.next();
    if (comparator === 'search' && first.type === 'literal') {
      if (typeof first.value !== 'string') throw new FilterError('search() needs a string', first.position);
      this.budget.search(first.value, first.position);
      return { kind: 'search', text: first.value };
    }
    if (first.type !== 'name') throw new FilterError(`expected a field, found ${describe(first)}`, first.position);
    const field = this.field(first.name, first.position);
    const { kind } = fieldDefinition(field);
    const allowed: readonly Comparator[] = FIELD_KINDS[kind];
    if (!allowed.includes(comparator)) {
      throw new FilterError(`${comparator} can't be asked of ${field}: use ${allowed.join(', ')}`, first.position);
    }
    this.expect(',');
    const { position } = this.peek();
    const values = this.values(comparator);
    if (comparator === 'search') this.budget.search(String(values[0]), position);
    if (comparator === 'like' || comparator === 'nlike') this.budget.like(String(values[0]), position);
    return { kind: 'comparison', comparator, field, values, position };
  }

  private field(name: string, position: number): FilterField {
    if (isFilterField(name)) return name;
    throw new FilterError(`unknown field ${name}: use ${Object.keys(FILTER_FIELDS).join(', ')}`, position);
  }

  private values(comparator: Comparator): FilterLiteral[] {
    const isList = comparator === 'in' || comparator === 'nin';
    const token = this.next();
    if (token.type === 'literal') return [token.value];
    if (token.type !== '[' || !isList) {
      throw new FilterError(`expected a ${isList ? 'list' : 'value'}, found ${describe(token)}`, token.position);
    }
    const values: FilterLiteral[] = [];
    if (this.accept(']')) return values;
    do {
      const item = this.next();
      if (item.type !== 'literal') throw new FilterError(`expected a value, found ${describe(item)}`, item.position);
      values.push(item.value);
      if (values.length > MAX_OPERANDS)
        throw new FilterError(`a list has at most ${MAX_OPERANDS} values`, item.position);
    } while (this.accept(','));
    this.expect(']');
    return values;
  }

  private peek(): Token {
    return this.tokens[Math.min(this.index, this.tokens.length - 1)];
  }

  private next(): Token {
    const token = this.peek();
    this.index += 1;
    return token;
  }

  private accept(type: Token['type']): boolean {
    if (this.peek().type !== type) return false;
    this.index += 1;
    return true;
  }

  private expect(type: Token['type']): void {
    const token = this.next();
    if (token.type !== type) throw new FilterError(`expected ${type}, found ${describe(token)}`, token.position);
  }
}

function isComparator(name: string): name is Comparator {
  return (COMPARATORS as readonly string[]).includes(name);
}

function describe(token: Token): string {
  switch (token.type) {
    case 'end':
      return 'the end of the filter';
    case 'name':
      return token.name;
    case 'literal':
      return describeLiteral(token.value);
    default:
      return token.type;
  }
}
