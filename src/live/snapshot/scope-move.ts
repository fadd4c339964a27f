/**
 * The message that follows changed rights. It brings the client from the matches of one scope to those of another.
 *
 *   changes of the log since the client's position   folded: visible before in the old scope, after in the new one
 *   unchanged objects                                those of one scope that are not in the other
 *
 * Example: the client sees the namespaces a and b at revision 7. A binding to b is deleted with change 8, and change 9 modifies a Pod
 * of b. The message up to 9 removes all Pods of b with NO_LONGER_VISIBLE, and tells nothing of change 9.
 */
import { isVisible, type Scope, type Scopes } from '../../access/scope.ts';
import { clustersIn, type Filter } from '../../query/plan/filter.ts';
import type { PlannedKind, Projection } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { type MatchedObject, matchingObjects } from '../../query/read/match-ids.ts';
import { readView } from '../../query/sql/view.ts';
import { readChanges, readLogFloor } from '../../store/read/changes.ts';
import type { Lease } from '../../store/types/lease.ts';
import { FeedChange } from '../log/feed-change.ts';
import { type FoldedChange, fold } from '../log/fold.ts';
import {
  addedRow,
  countDelta,
  hiddenObject,
  type LiveChange,
  liveChanges,
  type ShownParts,
} from '../log/live-change.ts';
import type { LiveCursor } from '../log/live-cursor.ts';

/** More changed objects are sent as a new snapshot. */
const mostChanges = 1000;
/** Objects of each scope that are compared. */
const mostCompared = 20_000;

/** The list that the client follows. */
interface Followed {
  readonly kind: PlannedKind;
  readonly filter: Filter;
  readonly projection: Projection;
  readonly shown?: ShownParts | undefined;
}

/** The changes that one message must bring. Every client with this position, filter and scopes gets the same objects. */
interface ScopeMove {
  readonly revision: number;
  readonly changes: readonly LiveChange[];
  /** By how much the changes alter the number of matches. */
  readonly delta: number;
}

/**
 * The move of a client at `place` from the scope `before` to `after`. `gap` if it needs a new snapshot: the log does not reach back, or too
 * many objects differ.
 * @param now milliseconds since the epoch
 */
export async function moveScope(
  lease: Lease,
  { kind, filter, projection, shown }: Followed,
  place: LiveCursor & { readonly kindId: number },
  { before, after }: { readonly before: Scope; readonly after: Scopes },
  now: () => number,
): Promise<ScopeMove | 'gap'> {
  const { epoch, sequence, kindId } = place;
  if (lease.epoch !== epoch || sequence < (await readLogFloor(lease, kindId))) return 'gap';
  const logged = await readChanges(lease, { kindId, after: sequence, limit: mostChanges + 1 });
  const clusters = clustersIn(filter);
  const changes = logged
    .filter(({ cluster }) => clusters?.includes(cluster) ?? true)
    .map((change) => new FeedChange(change));
  if (logged.length > mostChanges || !changes.every((change) => change.continues)) return 'gap';
  const scope = after.of(kind.key, 'watch');
  const messages = fold(kind, changes, lease.revision, { filter, before, scope });
  // An object that was deleted and made again takes two messages, but the client moves in one.
  if (messages.length > 1) return 'gap';
  const changed = new Set(logged.map(({ objectId }) => objectId));
  const unchanged = async (scopes: Scopes, other: Scope): Promise<readonly MatchedObject[] | null> => {
    const view = await readView(lease, scopes);
    const found = await matchingObjects(lease, view, kind, filter, { limit: mostCompared + 1 });
    if (found.length > mostCompared) return null;
    return found.filter(({ objectId, identity }) => !changed.has(objectId) && !isVisible(other, identity));
  };
  const removed = await unchanged({ id: '', of: () => before }, scope);
  const won = await unchanged(after, before);
  if (removed === null || won === null || removed.length + won.length > mostChanges) return 'gap';
  const identities = won.map(({ identity }) => identity);
  const rows = await fetchObjects(lease, await readView(lease, after), identities, projection, 'watch');
  const [{ changes: folded } = { changes: [] }] = messages;
  const at = now();
  const isHidden = ({ reason }: FoldedChange): boolean => reason === 'NO_LONGER_VISIBLE';
  const hidden = [...removed, ...folded.filter(isHidden)].map(({ identity }) => identity);
  const all = [
    ...liveChanges(
      folded.filter((change) => !isHidden(change)),
      { health: kind.health, shown },
    ),
    ...inOrder(hidden).map((identity) => hiddenObject(identity, at)),
    ...rows.flatMap((row) => (row === null ? [] : addedRow(row, at))),
  ];
  return { revision: lease.revision, changes: all, delta: countDelta(all) };
}

/** Sorted by identity, so that the order does not tell which objects were changed since. */
function inOrder(identities: readonly LiveChange['identity'][]): readonly LiveChange['identity'][] {
  const keyed = identities.map((identity) => {
    const { cluster, namespace, name } = identity;
    return { identity, key: JSON.stringify([cluster, namespace ?? '', name]) };
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1)).map(({ identity }) => identity);
}
