/**
 * The objects around an object, level by level.
 *
 *   level 1   the owners of the object, the objects that it owns, and its related objects by each relation of its kind
 *   level 2   the same for each new object of level 1
 *
 * A level needs two statements for owners. It needs more for each kind of its objects: one finds the kinds that name them, and one reads the
 * relations to one kind. Each relation whose references state their kind takes two more. The graph has at most `mostOfOne` related objects for
 * an object and a relation. Without this limit, one Node with a thousand Pods would fill the graph.
 */
import type { Lease } from '../../store/types/lease.ts';
import { join, raw, sql } from '../../store/types/sql.ts';
import type { Row } from '../../store/types/statement.ts';
import { everything } from '../plan/filter.ts';
import type { Hop, HopEnd } from '../plan/hop.ts';
import { fetchObjects } from '../read/fetch.ts';
import { readyPlaces } from '../sql/hop-sql.ts';
import type { View } from '../sql/view.ts';
import { ownedObjects, ownerObjects } from './owners.ts';
import { identitiesOf, referencesOf } from './references.ts';
import { parents, relatedIdsSql } from './related-list.ts';
import { entriesByKind } from './used-by.ts';

/** A hop of the graph, with the name of its relation in the forward direction. */
export interface GraphHop {
  readonly hop: Hop;
  readonly relation: string;
}

/** A relation of the graph whose references state their kind. */
export interface GraphAnyHop {
  /** placeTexts */
  readonly places: readonly string[];
  /** As that of a hop. */
  readonly many: boolean;
  readonly relation: string;
}

export interface GraphHops {
  readonly hops: readonly GraphHop[];
  readonly anyHops: readonly GraphAnyHop[];
}

interface GraphPlan {
  /** Levels. */
  readonly depth: number;
  /** Objects, the first one included. */
  readonly limit: number;
  /** The hops from objects of a kind (resourceKey). */
  readonly hopsOf: (key: string) => GraphHops;
  /** The kind that a reference states; undefined if it is not served, or not synced. */
  readonly kindOf: (group: string, kind: string) => HopEnd | undefined;
  /** Whether objects of a kind belong to the graph. */
  readonly includes: (key: string) => boolean;
}

interface GraphNode {
  /** Object id in the store. */
  readonly id: number;
  readonly key: string;
}

/** `from` refers to, is owned by, or selects `to`. Both are object ids. */
interface GraphEdge {
  readonly from: number;
  readonly to: number;
  /** The name of the relation, or `owner`. */
  readonly relation: string;
}

interface FoundGraph {
  /** The first one is the start; nearer ones come first. */
  readonly nodes: readonly GraphNode[];
  readonly edges: readonly GraphEdge[];
  /** Are there further objects within the depth? */
  readonly truncated: boolean;
}

/** Related objects of one object by one relation. */
const mostOfOne = 50;

/** @throws PortolanError CACHE_NOT_READY while references are still being read. */
export async function relatedGraph(lease: Lease, view: View, start: GraphNode, plan: GraphPlan): Promise<FoundGraph> {
  const nodes = new Map([[start.id, start]]);
  const edges = new Map<string, GraphEdge>();
  let truncated = false;
  let level: readonly GraphNode[] = [start];
  for (let depth = 0; depth < plan.depth && level.length > 0; depth += 1) {
    const next: GraphNode[] = [];
    for (const { edge, node, isBeyond } of await stepsFrom(lease, view, level, plan)) {
      if (!plan.includes(node.key)) continue;
      if (isBeyond || (!nodes.has(node.id) && nodes.size >= plan.limit)) {
        truncated = true;
        continue;
      }
      if (!nodes.has(node.id)) {
        nodes.set(node.id, node);
        next.push(node);
      }
      edges.set(`${edge.from} ${edge.to} ${edge.relation}`, edge);
    }
    level = next;
  }
  return { nodes: [...nodes.values()], edges: [...edges.values()], truncated };
}

interface Step {
  readonly edge: GraphEdge;
  /** The object that the step leads to. */
  readonly node: GraphNode;
  /** Is it the object behind the last one that the graph shows of this relation? */
  readonly isBeyond: boolean;
}

async function stepsFrom(lease: Lease, view: View, level: readonly GraphNode[], plan: GraphPlan): Promise<Step[]> {
  const steps = await ownerSteps(lease, view, level);
  for (const [key, some] of Map.groupBy(level, (node) => node.key)) {
    const { hops, anyHops } = plan.hopsOf(key);
    steps.push(...(await relationSteps(lease, view, some, hops)));
    for (const hop of anyHops) steps.push(...(await anySteps(lease, view, some, hop, plan)));
  }
  return steps;
}

async function ownerSteps(lease: Lease, view: View, level: readonly GraphNode[]): Promise<Step[]> {
  const ids = level.map(({ id }) => id);
  const owners = await ownerObjects(lease, view, ids);
  const uids = await lease.all(
    sql`SELECT s.cluster, s.uid FROM json_each(${JSON.stringify(ids)}) AS j CROSS JOIN object AS s ON s.id = j.value ORDER BY j.key`,
  );
  const owned = await ownedObjects(
    lease,
    view,
    uids.map(([cluster, uid]) => ({ cluster: String(cluster), uid: String(uid) })),
    null,
  );
  const steps: Step[] = [];
  const add = (related: typeof owners, edgeOf: (from: number, to: number) => GraphEdge): void => {
    for (const { key, pairs } of related) {
      const counts = new Map<number, number>();
      for (const [at, id] of JSON.parse(pairs) as readonly [number, number][]) {
        const count = (counts.get(at) ?? 0) + 1;
        counts.set(at, count);
        if (count > mostOfOne + 1) continue;
        steps.push({ edge: edgeOf(ids[at] ?? 0, id), node: { id, key }, isBeyond: count > mostOfOne });
      }
    }
  };
  add(owners, (from, to) => ({ from, to, relation: 'owner' }));
  add(owned, (to, from) => ({ from, to, relation: 'owner' }));
  return steps;
}

function isReferring({ direction, way }: Hop): boolean {
  return direction === 'reverse' && way.by === 'reference';
}

/** The ids of the kinds that name one of the objects. The SELECTs of the others would cost more than this statement. */
async function referringKinds(
  lease: Lease,
  view: View,
  ids: readonly number[],
  hops: readonly GraphHop[],
): Promise<ReadonlySet<number>> {
  const ends = new Map<string, HopEnd>();
  let of: HopEnd | null = null;
  for (const { hop } of hops) {
    if (!isReferring(hop) || hop.way.by !== 'reference' || view.end(hop) === undefined) continue;
    // A kind may seem to name none only because its objects have not been read yet.
    readyPlaces(view, hop.to.key, hop.way.places);
    ends.set(hop.to.key, hop.to);
    of = hop.from;
  }
  if (of === null) return new Set();
  const entries = await entriesByKind(lease, view, ids, { of, kinds: [...ends.values()] });
  return new Set(entries.flatMap((some) => [...some]));
}

/** The steps along a relation whose references state their kind. */
async function anySteps(
  lease: Lease,
  view: View,
  level: readonly GraphNode[],
  { places, many, relation }: GraphAnyHop,
  { kindOf }: GraphPlan,
): Promise<Step[]> {
  const [first] = level;
  const kind = first === undefined ? undefined : view.get(first.key);
  if (kind === undefined) return [];
  const ids = level.map(({ id }) => id);
  const named = (await referencesOf(lease, kind, ids, places)).flatMap((references, at) =>
    identitiesOf(references, kindOf).map((identity) => ({ from: ids[at] ?? 0, identity })),
  );
  const identities = named.map(({ identity }) => identity);
  const rows = await fetchObjects(lease, view, identities, {}, many ? 'list' : 'get');
  const counts = new Map<number, number>();
  return named.flatMap(({ from, identity }, index): readonly Step[] => {
    const row = rows[index] ?? null;
    const count = (counts.get(from) ?? 0) + 1;
    if (row === null || count > mostOfOne + 1) return [];
    counts.set(from, count);
    const node = { id: row.objectId, key: identity.key };
    return [{ edge: { from, to: node.id, relation }, node, isBeyond: count > mostOfOne }];
  });
}

/** SELECTs of one statement. SQLite takes 500. */
const mostSelects = 200;

/** One statement for the hops from objects of one kind. */
async function relationSteps(
  lease: Lease,
  view: View,
  level: readonly GraphNode[],
  hops: readonly GraphHop[],
): Promise<Step[]> {
  const ids = level.map(({ id }) => id);
  const referring = await referringKinds(lease, view, ids, hops);
  const selects = hops.flatMap(({ hop }, index) => {
    const kind = view.end(hop);
    if (kind === undefined || (isReferring(hop) && !referring.has(kind.kindId))) return [];
    const related = relatedIdsSql(kind, { hop, filter: everything, orderBy: [] }, mostOfOne + 1);
    return [
      sql`SELECT ${raw(String(index))} AS hop, j.key AS at, f.key AS nth, f.value AS id FROM ${parents(ids)}
        CROSS JOIN json_each((SELECT json_group_array(id) FROM (${related}))) AS f`,
    ];
  });
  const rows: Row[] = [];
  for (let first = 0; first < selects.length; first += mostSelects) {
    const some = selects.slice(first, first + mostSelects);
    rows.push(
      ...(await lease.all(sql`SELECT hop, at, nth, id FROM (${join(some, ' UNION ALL ')}) ORDER BY hop, at, nth`)),
    );
  }
  const steps: Step[] = [];
  for (const [index, at, nth, id] of rows) {
    const step = hops[Number(index)];
    if (step === undefined) continue;
    const [here, there] = [ids[Number(at)] ?? 0, Number(id)];
    const [from, to] = step.hop.direction === 'forward' ? [here, there] : [there, here];
    steps.push({
      edge: { from, to, relation: step.relation },
      node: { id: there, key: step.hop.to.key },
      isBeyond: Number(nth) === mostOfOne,
    });
  }
  return steps;
}
