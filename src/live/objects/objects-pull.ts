/**
 * A pull of a live list of several kinds reads the changes of all kinds after the client's position, in one lease. live-objects.ts
 * describes the protocol.
 *
 *   position 7, revision 12: Pods changed at 8 and 11, Nodes at 9   -> [8, 9, 11] up to 12
 *   a Pod was deleted at 9 and made anew at 11                     -> [8, 9] up to 10; the next pull begins there
 *
 * Invariant: the changes are complete for every kind up to the new position, and none is later.
 */
import { isSameScope, noRows, partIn, type Scope, type Scopes, scopeText } from '../../access/scope.ts';
import { must } from '../../base/must.ts';
import { clustersIn } from '../../query/plan/filter.ts';
import type { PlannedKind } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { matchingObjects } from '../../query/read/match-ids.ts';
import { readView } from '../../query/sql/view.ts';
import { readChangedKinds, readChanges } from '../../store/read/changes.ts';
import type { Lease } from '../../store/types/lease.ts';
import type { LiveRequest } from '../list/live-request.ts';
import { FeedChange } from '../log/feed-change.ts';
import { fold } from '../log/fold.ts';
import { addedRow, countDelta, type LiveChange, liveChanges } from '../log/live-change.ts';
import { type CursorMarks, cursorMarks } from '../log/live-cursor.ts';
import { moveScope } from '../snapshot/scope-move.ts';

export interface FollowedKind {
  readonly kind: PlannedKind;
  /** At least one of these clusters must be synced; empty to require none. */
  readonly clusters: readonly string[];
  /** It may be missing while it is not synced, if another optional kind is. It joins when it is synced. */
  readonly isOptional: boolean;
}

export interface LiveObjectsRequest extends Omit<LiveRequest, 'kind' | 'clusters' | 'pushing'> {
  readonly kinds: readonly FollowedKind[];
}

/** The part of the kinds that the client sees. */
export interface VisibleKinds {
  /** The rows that the caller may see, by resourceKey. */
  readonly visible: ReadonlyMap<string, Scope>;
  readonly kindIds: ReadonlyMap<string, number>;
  readonly marks: CursorMarks;
}

/** The position of the client: its objects are the matches after this change. */
export interface ObjectsPosition {
  readonly epoch: string;
  readonly sequence: number;
  readonly visibleKinds: VisibleKinds;
  readonly count: number | null;
  /** Kinds of which the client surely holds no object. */
  readonly empty: ReadonlySet<string>;
}

export interface Pulled {
  readonly position: ObjectsPosition;
  readonly changes: readonly LiveChange[];
  /** Nothing is left up to the revision of the lease. */
  readonly isWhole: boolean;
  readonly revision: number;
}

/** Changes of one kind that one pull reads. */
const batch = 500;
/** More objects of a kind that joins are sent as a new snapshot of all. */
const mostJoining = 1000;

/** A kind of which the caller may see something. */
interface Followed {
  readonly kind: PlannedKind;
  readonly kindId: number;
  readonly scope: Scope;
}

/** The kinds of which the caller may see something. */
export function followed(
  { kinds }: Pick<LiveObjectsRequest, 'kinds'>,
  visibleKinds: VisibleKinds,
): readonly Followed[] {
  return kinds.flatMap(({ kind }) => {
    const scope = visibleKinds.visible.get(kind.key) ?? noRows;
    const kindId = visibleKinds.kindIds.get(kind.key);
    return scope.rows === 'none' || kindId === undefined ? [] : [{ kind, kindId, scope }];
  });
}

/** The changes of one kind after the position. */
interface ReadKind {
  readonly of: Followed;
  readonly found: readonly FeedChange[];
}

/** The changes after the position, in one lease. `gap` if the client needs a new snapshot. */
export async function pull(
  lease: Lease,
  request: LiveObjectsRequest,
  position: ObjectsPosition,
): Promise<Pulled | 'gap'> {
  const { epoch, sequence } = position;
  if (lease.epoch !== epoch) return 'gap';
  const scopes = await request.rights.at(lease);
  const visibleKinds = sameVisibleKinds(position.visibleKinds, visibleIn(request, scopes));
  const steady = followed(request, visibleKinds).filter(({ kind, scope }) =>
    isSameScope(scope, position.visibleKinds.visible.get(kind.key)),
  );
  const read = await readKinds(lease, request, steady, sequence);
  if (read === 'gap') return 'gap';
  const folded = foldKinds(read.kinds, request, position, { upTo: read.upTo, revision: lease.revision });
  if (folded === 'gap') return 'gap';
  const { upTo } = folded;
  const isWhole = upTo === lease.revision;
  const others = await othersNow(lease, request, position, { visibleKinds, scopes, joining: folded.joining, isWhole });
  if (others === 'gap' || (upTo <= sequence && !isWhole)) return 'gap';
  const changes = [...folded.changes, ...others];
  const count = position.count === null ? null : position.count + countDelta(changes);
  const added = new Set(changes.flatMap(({ type, identity }) => (type === 'ADDED' ? identity.key : [])));
  const empty = added.size === 0 ? position.empty : new Set([...position.empty].filter((key) => !added.has(key)));
  return {
    position: { epoch, sequence: upTo, visibleKinds, count, empty },
    changes,
    isWhole,
    revision: lease.revision,
  };
}

/** The changes of these kinds after `sequence`, complete up to `upTo`. `gap` if the log does not reach back. */
async function readKinds(
  lease: Lease,
  { filter }: LiveObjectsRequest,
  kinds: readonly Followed[],
  sequence: number,
): Promise<{ readonly kinds: readonly ReadKind[]; readonly upTo: number } | 'gap'> {
  const changed = await readChangedKinds(lease, new Map(kinds.map(({ kindId }) => [kindId, sequence])));
  if (kinds.some(({ kindId }) => sequence < (changed.floors.get(kindId) ?? 0))) return 'gap';
  const clusters = clustersIn(filter);
  let upTo = lease.revision;
  const read: ReadKind[] = [];
  for (const of of kinds) {
    if (!changed.kindIds.has(of.kindId)) continue;
    const logged = await readChanges(lease, { kindId: of.kindId, after: sequence, upTo, limit: batch });
    if (logged.length === batch) upTo = must(logged.at(-1), 'a full batch').seq;
    // A RESET of another cluster does not concern the client.
    const concerning = logged.filter(
      ({ cluster }) => (clusters?.includes(cluster) ?? true) && partIn(of.scope, cluster) !== null,
    );
    read.push({ of, found: concerning.map((change) => new FeedChange(change)) });
  }
  return { kinds: read, upTo };
}

/**
 * The message of these changes, up to the greatest sequence number at which it is one message. `joining` are the kinds that were listed and
 * of which the client holds nothing. They join at the revision, so any earlier end is before their lists.
 */
function foldKinds(
  read: readonly ReadKind[],
  { filter, shown }: LiveObjectsRequest,
  { empty }: ObjectsPosition,
  { upTo, revision }: { readonly upTo: number; readonly revision: number },
): { readonly changes: readonly LiveChange[]; readonly joining: readonly Followed[]; readonly upTo: number } | 'gap' {
  for (let end = upTo; ; ) {
    const changes: LiveChange[] = [];
    const joining: Followed[] = [];
    let earlier = end;
    for (const { of, found } of read) {
      const some = found.filter(({ logged }) => logged.seq <= end);
      const lost = some.find((change) => !change.continues);
      if (lost !== undefined) {
        if (!empty.has(of.kind.key)) return 'gap';
        if (end < revision) earlier = Math.min(earlier, lost.logged.seq - 1);
        joining.push(of);
        continue;
      }
      const [first, second] = fold(of.kind, some, end, { filter, scope: of.scope });
      if (first === undefined) continue;
      if (second !== undefined) earlier = Math.min(earlier, first.upTo);
      changes.push(...liveChanges(first.changes, { health: of.kind.health, shown }));
    }
    if (earlier === end) return { changes, joining, upTo: end };
    end = earlier;
  }
}

/** The additions and removals of kinds that join, and of kinds whose rights changed, at the revision of the lease. */
async function othersNow(
  lease: Lease,
  request: LiveObjectsRequest,
  { epoch, sequence, visibleKinds: before }: ObjectsPosition,
  {
    visibleKinds,
    scopes,
    joining,
    isWhole,
  }: {
    readonly visibleKinds: VisibleKinds;
    readonly scopes: Scopes;
    readonly joining: readonly Followed[];
    readonly isWhole: boolean;
  },
): Promise<readonly LiveChange[] | 'gap'> {
  const { kinds, filter, projection, shown } = request;
  const scopeBefore = (key: string): Scope => before.visible.get(key) ?? noRows;
  const moving =
    visibleKinds === before
      ? []
      : kinds.filter(({ kind: { key } }) => !isSameScope(scopeBefore(key), visibleKinds.visible.get(key)));
  if (moving.length > 0 && !isWhole) return 'gap';
  const changes: LiveChange[] = [];
  for (const of of joining) {
    const rows = await matchesNow(lease, scopes, of, request);
    if (rows === 'gap') return 'gap';
    changes.push(...rows);
  }
  for (const { kind } of moving) {
    const place = { epoch, sequence, kindId: must(visibleKinds.kindIds.get(kind.key), 'the id of a kind') };
    const scope = { before: scopeBefore(kind.key), after: scopes };
    const move = await moveScope(lease, { kind, filter, projection, shown }, place, scope, () => request.now());
    if (move === 'gap') return 'gap';
    changes.push(...move.changes);
  }
  return changes;
}

/** All matches of a kind, as ADDED. `gap` if they are too many for one message. */
async function matchesNow(
  lease: Lease,
  scopes: Scopes,
  { kind }: Followed,
  { filter, projection, now }: LiveObjectsRequest,
): Promise<readonly LiveChange[] | 'gap'> {
  const view = await readView(lease, scopes);
  const found = await matchingObjects(lease, view, kind, filter, { limit: mostJoining + 1 });
  if (found.length > mostJoining) return 'gap';
  const identities = found.map(({ identity }) => identity);
  const rows = await fetchObjects(lease, view, identities, projection, 'watch');
  const at = now();
  return rows.flatMap((row) => (row === null ? [] : addedRow(row, at)));
}

export function visibleIn({ kinds }: Pick<LiveObjectsRequest, 'kinds'>, scopes: Scopes): ReadonlyMap<string, Scope> {
  return new Map(kinds.map(({ kind: { key } }) => [key, scopes.of(key, 'watch')]));
}

/** May a caller with these scopes see the same rows? */
export function isSameVisible(visible: ReadonlyMap<string, Scope>, of: Pick<VisibleKinds, 'visible'>): boolean {
  return [...visible].every(([key, scope]) => isSameScope(scope, of.visible.get(key)));
}

const texts = new WeakMap<VisibleKinds, string>();

/** A text that tells visible kinds apart by their rows. */
export function textOfVisible(visibleKinds: VisibleKinds): string {
  const known =
    texts.get(visibleKinds) ??
    [...visibleKinds.visible]
      .map(([key, scope]) => `${key} ${scopeText(scope)}`)
      .sort()
      .join(' ');
  texts.set(visibleKinds, known);
  return known;
}

/** The visible kinds with these scopes; the same object if they are equal. */
function sameVisibleKinds(visibleKinds: VisibleKinds, visible: ReadonlyMap<string, Scope>): VisibleKinds {
  return isSameVisible(visible, visibleKinds)
    ? visibleKinds
    : { ...visibleKinds, visible, marks: cursorMarks(visible) };
}
