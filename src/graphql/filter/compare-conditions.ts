/**
 * Conditions that compare two leaves of one object.
 *
 *   { path: "status.readyReplicas", lt: "spec.replicas" }
 *   { path: "status.used[\"pods\"]", gte: "status.hard[\"pods\"]", times: 0.8 }
 */
import { PortolanError } from '../../base/errors.ts';
import type { ValueCast } from '../../catalog/tree/cast.ts';
import { checkComparedLeaves, type ValueOperator } from '../../catalog/values/compare-values.ts';
import { conjunction, negation } from '../../query/plan/comparison.ts';
import type { Filter, LeafPath } from '../../query/plan/filter.ts';
import { entriesOf, refuse } from '../../reads/paths/filter-values.ts';
import { leafIn, type PathKind, pathIn } from '../../reads/paths/kinds-path.ts';

/**
 * The filter of one CompareFilter, on these kinds.
 * @throws PortolanError BAD_USER_INPUT for an unknown path, a path through lists, and leaves that cannot be compared.
 */
export function compareConditions(value: unknown, place: string, kinds: readonly PathKind[]): Filter {
  const { path, as, times, ...operators } = Object.fromEntries(entriesOf(value, place));
  if (as === null) refuse(`${place}.as`, 'is null; leave it out');
  const cast = as as ValueCast | undefined;
  const left = leafAt(kinds, path, `${place}.path`, cast);
  const factor = timesOf(times, `${place}.times`);
  return conjunction(
    entriesOf(operators, place).map(([operator, written]): Filter => {
      const right = leafAt(kinds, written, `${place}.${operator}`, cast);
      const problem = checkComparedLeaves({ left: left.type, right: right.type, times: factor });
      if (problem !== null)
        refuse(`${place}.${operator}`, `compares ${left.path.text} with ${right.path.text}: ${problem}`);
      const positive = (operator === 'ne' ? 'eq' : operator) as ValueOperator;
      const compare: Filter = { kind: 'compareFields', left, operator: positive, right, times: factor };
      return operator === 'ne' ? negation(compare) : compare;
    }),
  );
}

function leafAt(kinds: readonly PathKind[], written: unknown, place: string, cast: ValueCast | undefined): LeafPath {
  if (typeof written !== 'string') return refuse(place, 'is null; name a path');
  const found = pathIn(kinds, written, 'some', cast);
  if (found.many || found.path.fold !== undefined) {
    throw new PortolanError(
      'BAD_USER_INPUT',
      `${place} is ${found.path.text}, which goes through a list; name one value with [0] or [name=value].`,
    );
  }
  return { path: leafIn(place, found), type: found.type.kind === 'leaf' ? found.type.type : 'JSON' };
}

function timesOf(times: unknown, place: string): string | null {
  if (times === undefined) return null;
  if (typeof times !== 'number' || !Number.isFinite(times)) return refuse(place, 'is no number');
  return String(times);
}
