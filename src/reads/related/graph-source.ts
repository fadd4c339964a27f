/** `graph`: the objects around an object. */
import { PortolanError } from '../../base/errors.ts';
import type { KindRelation } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import { type Hop, type HopEnd, hopEnd, hopOf, reversed } from '../../query/plan/hop.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { isStored, objectsById } from '../../query/read/object-rows.ts';
import { readiness } from '../../query/read/readiness.ts';
import { type GraphAnyHop, type GraphHop, type GraphHops, relatedGraph } from '../../query/related/graph.ts';
import { ObjectSource } from '../lists/object-source.ts';

export interface GraphEdgeSource {
  /** Object ids. */
  readonly from: string;
  readonly to: string;
  readonly relation: string;
}

export interface GraphSource {
  readonly nodes: readonly ObjectSource[];
  readonly edges: readonly GraphEdgeSource[];
  readonly truncated: boolean;
}

interface GraphArguments {
  readonly depth: number;
  readonly kinds: readonly string[] | null;
  readonly limit: number;
}

export const deepestGraph = 4;
export const mostGraphNodes = 500;

/** @throws PortolanError BAD_USER_INPUT for a depth or a limit outside its bounds. */
export async function loadGraph(
  { operation, kind, row }: ObjectSource,
  { depth, kinds: words, limit }: GraphArguments,
  projection: Projection,
): Promise<GraphSource> {
  checkBound('depth', depth, deepestGraph);
  checkBound('limit', limit, mostGraphNodes);
  const { generation } = operation;
  const wanted = words === null ? null : new Set(generation.kinds(words).map(({ key }) => key));
  return operation.read(async (lease, view) => {
    // An object of a change, or of an event of a subscription, may be gone.
    if (!(await isStored(lease, row.objectId))) return { nodes: [], edges: [], truncated: false };
    const states = await readiness(
      lease,
      generation.all.map(({ key }) => key),
    );
    const synced = new Set(states.filter((state) => state.synced).map(({ key }) => key));
    const hops = new Map<string, GraphHops>();
    const hopsFrom = (key: string): GraphHops => {
      const known = hops.get(key) ?? graphHops(operation, key, synced);
      hops.set(key, known);
      return known;
    };
    const includes = (key: string): boolean =>
      generation.kind(key) !== undefined && (wanted?.has(key) ?? key !== 'events');
    const start = { id: row.objectId, key: kind.key };
    const kindOf = (group: string, named: string): HopEnd | undefined => {
      const of = generation.kindOf(group, named);
      return of === undefined || !synced.has(of.key) ? undefined : hopEnd(of);
    };
    const found = await relatedGraph(lease, view, start, { depth, limit, hopsOf: hopsFrom, kindOf, includes });
    const rows = await objectsById(lease, found.nodes, projection);
    const nodes = rows.flatMap((each): readonly ObjectSource[] => {
      const of = generation.kind(each.key);
      return of === undefined ? [] : [new ObjectSource(operation, of, each)];
    });
    const ids = new Map(rows.map((each) => [each.objectId, encodeObjectId(each)]));
    const edges = found.edges.map(({ from, to, relation }) => ({
      from: ids.get(from) ?? '',
      to: ids.get(to) ?? '',
      relation,
    }));
    return { nodes, edges, truncated: found.truncated };
  });
}

/**
 * The hops of a kind: its own relations, and those of other kinds that lead to it. A relation without a field in the other direction counts
 * too. Owner references, the relation to the Namespace and weak references do not.
 */
function graphHops({ generation }: Operation, key: string, synced: ReadonlySet<string>): GraphHops {
  const kind = generation.kind(key);
  if (kind === undefined) return { hops: [], anyHops: [] };
  const hops = new Map<string, GraphHop>();
  const add = (hop: Hop, relation: string): void => {
    const id = `${hop.direction} ${hop.to.key} ${relation}`;
    if (!hops.has(id)) hops.set(id, { hop, relation });
  };
  const anyHops: GraphAnyHop[] = [];
  const counts = ({ way, weak }: KindRelation): boolean => way.by !== 'owner' && way.by !== 'namespace' && !weak;
  for (const relation of kind.relations.filter(counts)) {
    const { to, way, many, forward } = relation;
    const end = to === null || !synced.has(to) ? undefined : generation.kind(to);
    if (end !== undefined) add(hopOf(kind, relation, end), forward);
    if (to === null && way.by === 'reference') anyHops.push({ places: way.places, many, relation: forward });
  }
  for (const from of generation.all) {
    if (!synced.has(from.key)) continue;
    for (const relation of from.relations.filter(counts)) {
      const { to, direction, forward } = relation;
      const leadsHere = direction === 'forward' && (to === null || to === key);
      if (leadsHere) add(reversed(hopOf(from, relation, kind)), forward);
    }
  }
  return { hops: [...hops.values()], anyHops };
}

function checkBound(name: string, value: number, most: number): void {
  if (value >= 1 && value <= most) return;
  throw new PortolanError('BAD_USER_INPUT', `\`${name}\` of a graph is ${value}; it must be from 1 to ${most}.`);
}
