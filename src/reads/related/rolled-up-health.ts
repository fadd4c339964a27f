/**
 * `health(rollUp:)`: the worst of an object and of what it owns or names.
 *
 *   { deployments(first: 50) { nodes { health(rollUp: OWNED) { status culprit { kind metadata { name } } } } } }
 *     50 calls of loadRolledUpHealth -> one loader, 50 roots -> one ownedTrees(…) -> the worst of each tree -> one read of 50 culprits
 *
 * Candidates are compared by status, then by steps from the object, then by identity. The last of a chain of bad objects is the likely cause,
 * so more steps come first. The object itself is zero steps away.
 *
 * Invariant: all candidates count for the caller's lists (src/query/sql/counts.ts). A hidden object changes neither the health, nor the
 * cost, nor an error.
 */
import { splitLike } from '../../base/text/split-like.ts';
import { type Finding, type HealthSource, type HealthStatus, isWorse } from '../../catalog/health/health-status.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';
import type { Identity } from '../../query/plan/filter.ts';
import { compareIdentity } from '../../query/plan/identity-order.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { fetchObjects } from '../../query/read/fetch.ts';
import { objectsById } from '../../query/read/object-rows.ts';
import type { OwnedNode, TreeRoot } from '../../query/related/owned-tree.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { ObjectSource } from '../lists/object-source.ts';
import { chargedTrees, chargeRows } from './charged-trees.ts';
import { type NamedObject, type NamedObjects, namedObjects } from './named-objects.ts';

/** OWNED: with all that the object owns. RELATED: also with what it and the owned objects name. */
export type RollUp = 'OWNED' | 'RELATED';

/** A health, and for a roll-up what decided besides the object itself. */
export interface RolledUpHealth extends Finding {
  /** REFERENCE: a named object does not exist. */
  readonly source: HealthSource | 'REFERENCE';
  /** Null where the object itself or a missing one decided. */
  readonly culprit?: ObjectSource | null;
  /** Null where the object itself decided. */
  readonly chain?: readonly ObjectSource[] | null;
}

interface SelectedObjects {
  readonly culprit: Projection;
  /** Null where the chain is not selected. */
  readonly chain: Projection | null;
  /** Of the selection. */
  readonly key: string;
}

const field = 'health(rollUp:)';

/** @throws PortolanError QUERY_TOO_COSTLY for too many objects; CACHE_NOT_READY while references are still being read. */
export async function loadRolledUpHealth(
  { operation, kind, row }: ObjectSource,
  rollUp: RollUp,
  selected: SelectedObjects,
): Promise<RolledUpHealth> {
  const loader = operation.batched(
    `health ${rollUp} ${selected.key}`,
    (lease, view, roots: readonly Root[]) => worstBelow(operation, lease, view, roots, { rollUp, selected }),
    ({ id, uid, status }) => `${id} ${uid} ${status}`,
  );
  const { cluster, namespace, uid, health } = row;
  const of = operation.generation.origin(kind, row)?.identity ?? null;
  const root = { id: row.objectId, key: kind.key, cluster, namespace, uid, status: health.status, of };
  return (await loader.load(root)) ?? health;
}

interface Root extends TreeRoot {
  /** resourceKey */
  readonly key: string;
  /** Its own. */
  readonly status: HealthStatus;
  /** The object that an object of an abstract kind is made from, which owns and names others; null for other kinds. */
  readonly of: Identity | null;
}

/** An object that may decide. */
interface Candidate extends NamedObject {
  readonly depth: number;
  /** The object id of the object that owns or names it. */
  readonly from: number;
}

interface StoredObject {
  /** Object id in the store. */
  readonly id: number;
  /** resourceKey */
  readonly key: string;
}

interface Decided {
  readonly by: Candidate;
  /** From the root, which is left out, to the candidate, if that exists. */
  readonly chain: readonly StoredObject[];
}

/** For each root the health of what decides below it; null if the root itself decides. */
async function worstBelow(
  operation: Operation,
  lease: Lease,
  view: View,
  given: readonly Root[],
  { rollUp, selected }: { readonly rollUp: RollUp; readonly selected: SelectedObjects },
): Promise<(RolledUpHealth | null)[]> {
  const roots = await ownersOf(lease, view, given);
  const trees = await chargedTrees(operation, lease, view, roots, field);
  const naming = [roots, ...trees].flat();
  const named = rollUp === 'OWNED' ? nothingNamed : await namedObjects(operation, lease, view, naming);
  chargeRows(operation, named.count, field);
  const decided = roots.map((root, at) => decidedBy(operation.generation, root, trees[at] ?? [], named.byId));
  const chains = decided.map((each) => each?.chain ?? []);
  const culprits = decided.map((each) => (each === null || each.by.id === null ? [] : each.chain.slice(-1)));
  const shown = await sourcesOf(operation, lease, culprits, selected.culprit);
  const ways = selected.chain === null ? null : await sourcesOf(operation, lease, chains, selected.chain);
  return decided.map((each, at): RolledUpHealth | null => {
    if (each === null) return null;
    const [culprit = null] = shown[at] ?? [];
    const { status, message } = each.by;
    const health = culprit?.row.health ?? { status, reason: 'Missing', message, source: 'REFERENCE' as const };
    return { ...health, culprit, chain: ways?.[at] ?? null };
  });
}

/** The roots; an object of an abstract kind gives way to the object that it is made from. */
async function ownersOf(lease: Lease, view: View, roots: readonly Root[]): Promise<readonly Root[]> {
  const made = roots.flatMap(({ of }) => of ?? []);
  if (made.length === 0) return roots;
  const rows = (await fetchObjects(lease, view, made, {}, 'list')).values();
  return roots.map((root) => {
    if (root.of === null) return root;
    const row = rows.next().value ?? null;
    // It is gone in the meantime, and with it what it owned.
    if (row === null) return { ...root, uid: null };
    const { objectId: id, key, cluster, namespace, uid } = row;
    return { ...root, id, key, cluster, namespace, uid };
  });
}

const nothingNamed: NamedObjects = { byId: new Map(), count: 0 };

/**
 * The worst candidate, if it is as bad as the root. Of equal ones, the one with the most steps, then the first by identity. Null if all are
 * Current. An object that is owned and named is one that is owned.
 */
function decidedBy(
  { kind }: Pick<ServedKinds, 'kind'>,
  root: Root,
  tree: readonly OwnedNode[],
  named: NamedObjects['byId'],
): Decided | null {
  const nodes = new Map(tree.map((node) => [node.id, node]));
  const owned = tree.flatMap(({ key, namespace, name, id, status, depth, owner }): readonly Candidate[] => {
    if (kind(key) === undefined) return [];
    return [
      { identity: { cluster: root.cluster, key, namespace, name }, id, status, message: null, depth, from: owner },
    ];
  });
  const namedBy = [{ id: root.id, depth: 0 }, ...tree].flatMap(({ id: from, depth }) =>
    (named.get(from) ?? []).flatMap((each) =>
      each.id === root.id || (each.id !== null && nodes.has(each.id)) ? [] : [{ ...each, depth: depth + 1, from }],
    ),
  );
  const candidates: readonly Candidate[] = [...owned, ...namedBy];
  const by = candidates.reduce<Candidate | null>((worst, each) => {
    if (each.status === 'Current' || isWorse(root.status, each.status)) return worst;
    if (worst === null) return each;
    return compareCandidates(each, worst) < 0 ? each : worst;
  }, null);
  if (by === null) return null;
  const chain: StoredObject[] = by.id === null ? [] : [{ id: by.id, key: by.identity.key }];
  for (let node = nodes.get(by.from); node !== undefined; node = nodes.get(node.owner)) chain.unshift(node);
  return { by, chain };
}

function compareCandidates(a: Candidate, b: Candidate): number {
  if (isWorse(a.status, b.status)) return -1;
  if (isWorse(b.status, a.status)) return 1;
  return b.depth - a.depth || compareIdentity(a.identity, b.identity);
}

/** The objects of each of these lists. Those of kinds that are not served are left out. */
async function sourcesOf(
  operation: Operation,
  lease: Lease,
  lists: readonly (readonly StoredObject[])[],
  projection: Projection,
): Promise<readonly (readonly ObjectSource[])[]> {
  const rows = splitLike(lists, await objectsById(lease, lists.flat(), projection));
  return rows.map((some) =>
    some.flatMap((row) => {
      const kind = operation.generation.kind(row.key);
      return kind === undefined ? [] : [new ObjectSource(operation, kind, row)];
    }),
  );
}
