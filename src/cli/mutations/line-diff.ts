/**
 * The shortest edit from one list of lines to another, by Myers' algorithm ("An O(ND) Difference Algorithm", 1986).
 *
 *   a b c d        keep a, remove b, keep c, add x, keep d
 *   a c x d
 *
 * Never: takes more than `mostEdits` steps. Lists that differ more are shown as all removed and all added.
 */
export interface LineEdit {
  readonly kind: 'kept' | 'removed' | 'added';
  readonly line: string;
}

/** Time and memory grow with the square of it. */
const mostEdits = 1000;

export function lineEdits(before: readonly string[], after: readonly string[]): readonly LineEdit[] {
  const start = sharedLength(before, after);
  const [left, right] = [before.slice(start), after.slice(start)];
  const end = sharedLength(left.toReversed(), right.toReversed());
  const middle = shortestEdits(left.slice(0, left.length - end), right.slice(0, right.length - end));
  return [...before.slice(0, start).map(kept), ...middle, ...left.slice(left.length - end).map(kept)];
}

function sharedLength(a: readonly string[], b: readonly string[]): number {
  let length = 0;
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1;
  return length;
}

const kept = (line: string): LineEdit => ({ kind: 'kept', line });
const removed = (line: string): LineEdit => ({ kind: 'removed', line });
const added = (line: string): LineEdit => ({ kind: 'added', line });

/** The furthest line of `a` by diagonal: the line of `a` minus the line of `b`. */
type Ends = ReadonlyMap<number, number>;

function shortestEdits(a: readonly string[], b: readonly string[]): readonly LineEdit[] {
  const rounds: Ends[] = [];
  let ends: Ends = new Map([[1, 0]]);
  for (let edits = 0; edits <= Math.min(a.length + b.length, mostEdits); edits += 1) {
    rounds.push(ends);
    const next = new Map<number, number>();
    for (let k = -edits; k <= edits; k += 2) {
      let x = comesFromAbove(ends, k, edits) ? (ends.get(k + 1) ?? 0) : (ends.get(k - 1) ?? 0) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x += 1;
      next.set(k, x);
      if (x >= a.length && x - k >= b.length) return wayBack(a, b, rounds);
    }
    ends = next;
  }
  return [...a.map(removed), ...b.map(added)];
}

/** Is the step to the diagonal an added line of `b`? */
function comesFromAbove(ends: Ends, k: number, edits: number): boolean {
  return k === -edits || (k !== edits && (ends.get(k - 1) ?? 0) < (ends.get(k + 1) ?? 0));
}

function wayBack(a: readonly string[], b: readonly string[], rounds: readonly Ends[]): readonly LineEdit[] {
  const edits: LineEdit[] = [];
  let [x, y] = [a.length, b.length];
  for (let round = rounds.length - 1; round >= 0; round -= 1) {
    const ends = rounds[round] ?? new Map<number, number>();
    const k = x - y;
    const fromAbove = comesFromAbove(ends, k, round);
    const former = fromAbove ? k + 1 : k - 1;
    const formerX = round === 0 ? 0 : (ends.get(former) ?? 0);
    const formerY = round === 0 ? 0 : formerX - former;
    while (x > formerX && y > formerY) {
      x -= 1;
      y -= 1;
      edits.push(kept(a[x] ?? ''));
    }
    if (round === 0) break;
    edits.push(fromAbove ? added(b[formerY] ?? '') : removed(a[formerX] ?? ''));
    [x, y] = [formerX, formerY];
  }
  return edits.toReversed();
}
