/**
 * SQL as data: fragments of text with their parameters, composed by a tagged template.
 *
 *   sql`name = ${'web'} AND ${raw('kind')} IN (${3n})`  ->  sql: name = +? AND kind IN (+?)   params: ['web', 3n]
 *
 * Invariant: an external value is a parameter, never text. The template binds each `${…}`, except fragments, which it inserts.
 * `raw` takes only names that this project defines. Statements of one shape therefore have one text, and the cache of prepared
 * statements finds them again.
 *
 * A parameter is written `+?`. SQLite plans with the value of a bare `?` in a LIMIT or in a comparison with a column. It then plans the
 * statement again at each new binding, which takes longer than reading most pages. The plus changes no value and hides it from the
 * planner.
 */
import type { SqlValue, Statement } from './statement.ts';

export class Fragment implements Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];

  constructor(text: string, params: readonly SqlValue[]) {
    this.sql = text;
    this.params = params;
    Object.freeze(this);
  }
}

const nothing: readonly SqlValue[] = Object.freeze([]);

export function sql(texts: TemplateStringsArray, ...parts: readonly (Fragment | SqlValue)[]): Fragment {
  let text = texts[0] ?? '';
  const params: SqlValue[] = [];
  for (const [index, part] of parts.entries()) {
    if (part instanceof Fragment) {
      text += part.sql;
      for (const param of part.params) params.push(param);
    } else {
      text += '+?';
      params.push(part);
    }
    text += texts[index + 1] ?? '';
  }
  return new Fragment(text, params);
}

/** Trusted text: names of tables and columns. */
export function raw(text: string): Fragment {
  return new Fragment(text, nothing);
}

/** Concatenates fragments with a separator. */
export function join(fragments: readonly Fragment[], separator: string): Fragment {
  return new Fragment(
    fragments.map((fragment) => fragment.sql).join(separator),
    fragments.flatMap((fragment) => fragment.params),
  );
}

/** `(a AND b AND …)`; 1 without conditions. */
export function all(conditions: readonly Fragment[]): Fragment {
  return (
    balanced(
      conditions.filter((condition) => condition.sql !== '1'),
      'AND',
    ) ?? raw('1')
  );
}

/** `(a OR b OR …)`; 0 without conditions. */
export function any(conditions: readonly Fragment[]): Fragment {
  return balanced(conditions, 'OR') ?? raw('0');
}

/** SQLite bounds the depth of an expression. A chain of 1,000 terms is 1,000 deep, so long chains become a balanced tree. */
function balanced(conditions: readonly Fragment[], operator: 'AND' | 'OR'): Fragment | null {
  const [first] = conditions;
  if (first === undefined) return null;
  if (conditions.length === 1) return first;
  if (conditions.length <= 50) return sql`(${join(conditions, ` ${operator} `)})`;
  const middle = conditions.length >> 1;
  const left = balanced(conditions.slice(0, middle), operator) ?? first;
  const right = balanced(conditions.slice(middle), operator) ?? first;
  return sql`(${left} ${raw(operator)} ${right})`;
}

/** Longer lists are bound as one JSON text, because SQLite limits the number of parameters. */
const mostParameters = 20;

/** `expression IN (…)`; text and integers only. */
export function isIn(expression: Fragment, values: readonly (string | bigint)[]): Fragment {
  const [only] = values;
  if (only === undefined) return raw('0');
  if (values.length === 1) return sql`${expression} = ${only}`;
  if (values.length <= mostParameters) {
    return sql`${expression} IN (${join(
      values.map((value) => sql`${value}`),
      ', ',
    )})`;
  }
  return sql`${expression} IN (SELECT value FROM json_each(${jsonList(values)}))`;
}

function jsonList(values: readonly (string | bigint)[]): string {
  const items = values.map((value) =>
    typeof value === 'bigint' ? value.toString() : JSON.stringify(value.toWellFormed()),
  );
  return `[${items.join(',')}]`;
}
