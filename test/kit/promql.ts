/**
 * The part of PromQL that the alerts and the dashboard use: a parser, and an evaluation over scrapes.
 *
 *   parsePromql('increase(a_total{x!="y"}[5m]) > 0')   -> its selectors, and the labels by which it groups
 *   evaluate(expression, [scrape of 5m ago, scrape of now])
 *
 * A range holds all scrapes that are given, and `offset` means the first of them. Thus `increase` is the difference of the last and the
 * first scrape. As in Prometheus, a series with one sample in the range has no increase.
 */
import type { Sample } from './prometheus-text.ts';

interface Matcher {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

export interface Selector {
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly isRange: boolean;
  readonly isOffset: boolean;
}

type Node =
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'selector'; readonly selector: Selector }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Node[] }
  | { readonly type: 'group'; readonly name: string; readonly by: readonly string[]; readonly args: readonly Node[] }
  | {
      readonly type: 'binary';
      readonly operator: string;
      /** The labels of `on`; null: all labels must be equal. */
      readonly on: readonly string[] | null;
      readonly left: Node;
      readonly right: Node;
    };

export interface Expression {
  readonly root: Node;
  readonly selectors: readonly Selector[];
  /** Labels of `by` and `on`. */
  readonly labels: readonly string[];
}

const functions = 'increase rate deriv absent histogram_quantile clamp_min max_over_time vector'.split(' ');
const aggregations = ['sum', 'max', 'min', 'avg', 'count', 'topk'];
/** From the weakest to the strongest. */
const precedence = [['or'], ['and', 'unless'], ['==', '!=', '<=', '<', '>=', '>'], ['+', '-'], ['*', '/']];
const token =
  /\s*(?:(\d+(?:\.\d+)?(?![\w:]))|("(?:[^"\\]|\\.)*")|([a-zA-Z_:][\w:]*)|(=~|!~|==|!=|<=|>=|[-+*/<>=(){}[\],])|(\d+(?:ms|[smhdwy])))/y;

/** @throws Error with the place of what is not understood. */
export function parsePromql(text: string): Expression {
  const tokens: string[] = [];
  token.lastIndex = 0;
  while (token.lastIndex < text.trimEnd().length) {
    const at = token.lastIndex;
    const found = token.exec(text);
    if (found === null) throw new Error(`not PromQL at ${at}: ${text.slice(at)}`);
    tokens.push(found[0].trim());
  }
  const selectors: Selector[] = [];
  const labels: string[] = [];
  let next = 0;
  const peek = (): string => tokens[next] ?? '';
  const take = (wanted?: string | RegExp): string => {
    const found = tokens[next] ?? 'the end';
    const fits = wanted === undefined || (typeof wanted === 'string' ? found === wanted : wanted.test(found));
    if (!fits) throw new Error(`${found} where ${wanted} is needed: ${text}`);
    next += 1;
    return found;
  };
  const list = <T>(open: string, close: string, item: () => T): T[] => {
    const items: T[] = [];
    take(open);
    while (peek() !== close) {
      items.push(item());
      if (peek() !== close) take(',');
    }
    take(close);
    return items;
  };
  const names = (): string[] => {
    const found = list('(', ')', () => take(/^[a-z_]\w*$/));
    labels.push(...found);
    return found;
  };
  const binary = (level: number): Node => {
    const operators = precedence[level];
    if (operators === undefined) return primary();
    let left = binary(level + 1);
    while (operators.includes(peek())) {
      const operator = take();
      const on = peek() === 'on' && take() ? names() : null;
      if (peek() === 'group_left' && take()) names();
      left = { type: 'binary', operator, on, left, right: binary(level + 1) };
    }
    return left;
  };
  const primary = (): Node => {
    if (peek() === '(') {
      take('(');
      const inner = binary(0);
      take(')');
      return inner;
    }
    if (/^\d/.test(peek())) return { type: 'number', value: Number(take(/^[\d.]+$/)) };
    const name = take(/^[a-zA-Z_:]/);
    if (aggregations.includes(name)) {
      const by = peek() === 'by' && take() ? names() : [];
      return { type: 'group', name, by, args: list('(', ')', () => binary(0)) };
    }
    if (peek() === '(') {
      if (!functions.includes(name)) throw new Error(`${name} is no function that is known: ${text}`);
      return { type: 'call', name, args: list('(', ')', () => binary(0)) };
    }
    const matchers =
      peek() === '{'
        ? list('{', '}', () => {
            const label = take(/^[a-z_]\w*$/);
            return { label, operator: take(/^(=|!=|=~|!~)$/), value: JSON.parse(take(/^"/)) as string };
          })
        : [];
    const isRange = peek() === '[';
    if (isRange) list('[', ']', () => take(/^\d+[smhd]$/));
    const isOffset = peek() === 'offset';
    if (isOffset) take() && take(/^\d+[smhd]$/);
    const selector = { name, matchers, isRange, isOffset };
    selectors.push(selector);
    return { type: 'selector', selector };
  };
  const root = binary(0);
  if (next < tokens.length) throw new Error(`${peek()} is left over: ${text}`);
  return { root, selectors, labels };
}

type Series = Pick<Sample, 'labels' | 'value'>;

/** The series of the expression's value; a number is one series without labels. `scrapes` from the oldest to the newest. */
export function evaluate({ root }: Expression, scrapes: readonly (readonly Sample[])[]): readonly Series[] {
  const at = (selector: Selector, scrape: readonly Sample[] = []): readonly Sample[] =>
    scrape.filter(
      ({ name, labels }) => name === selector.name && selector.matchers.every((each) => fits(each, labels)),
    );
  const value = (node: Node): readonly Series[] => {
    switch (node.type) {
      case 'number':
        return [{ labels: {}, value: node.value }];
      case 'selector':
        return at(node.selector, scrapes.at(node.selector.isOffset ? 0 : -1));
      case 'call': {
        const [argument] = node.args;
        if (argument?.type !== 'selector') break;
        const last = at(argument.selector, scrapes.at(-1));
        if (node.name === 'absent') return last.length === 0 ? [{ labels: {}, value: 1 }] : [];
        if (node.name !== 'increase') break;
        const first = new Map(at(argument.selector, scrapes[0]).map((each) => [keyOf(each.labels), each.value]));
        return last.flatMap(({ labels, value: newest }) => {
          const oldest = first.get(keyOf(labels));
          return oldest === undefined ? [] : { labels, value: newest < oldest ? newest : newest - oldest };
        });
      }
      case 'group': {
        if (node.name !== 'sum' || node.args[0] === undefined) break;
        const groups = Map.groupBy(value(node.args[0]), ({ labels }) => keyOf(only(labels, node.by)));
        return [...groups.values()].map((of) => ({
          labels: only(of[0]?.labels ?? {}, node.by),
          value: of.reduce((sum, each) => sum + each.value, 0),
        }));
      }
      case 'binary':
        return combine(node, value(node.left), value(node.right));
    }
    throw new Error(`${JSON.stringify(node)} cannot be evaluated here`);
  };
  return value(root);
}

function combine(
  { operator, on, left, right }: Extract<Node, { type: 'binary' }>,
  ours: readonly Series[],
  theirs: readonly Series[],
): readonly Series[] {
  const key = ({ labels }: Series): string => keyOf(on === null ? labels : only(labels, on));
  const known = new Map(theirs.map((each) => [key(each), each.value]));
  if (operator === 'and') return ours.filter((each) => known.has(key(each)));
  if (operator === 'unless') return ours.filter((each) => !known.has(key(each)));
  if (operator === 'or') {
    const own = new Set(ours.map(key));
    return [...ours, ...theirs.filter((each) => !own.has(key(each)))];
  }
  // A number pairs with every series.
  const pairs =
    left.type === 'number'
      ? theirs.map((each) => [each, ours[0]?.value ?? 0, each.value] as const)
      : ours.flatMap((each) => {
          const other = right.type === 'number' ? right.value : known.get(key(each));
          return other === undefined ? [] : ([[each, each.value, other]] as const);
        });
  return pairs.flatMap(([{ labels, value }, a, b]) => {
    if (operator === '*') return { labels, value: a * b };
    const holds = { '==': a === b, '!=': a !== b, '<': a < b, '<=': a <= b, '>': a > b, '>=': a >= b }[operator];
    if (holds === undefined) throw new Error(`${operator} cannot be evaluated here`);
    return holds ? { labels, value } : [];
  });
}

function fits({ label, operator, value }: Matcher, labels: Sample['labels']): boolean {
  const found = labels[label] ?? '';
  const isEqual = operator.includes('~') ? new RegExp(`^(?:${value})$`).test(found) : found === value;
  return operator.startsWith('!') ? !isEqual : isEqual;
}

function only(labels: Sample['labels'], names: readonly string[]): Sample['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => names.includes(name)));
}

function keyOf(labels: Sample['labels']): string {
  return JSON.stringify(Object.entries(labels).toSorted());
}
