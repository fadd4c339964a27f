/** `graph`: the objects around an object. */
import { PortolanError } from '../../base/errors.ts';
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Operation } from '../../operation/operation.ts';
import { hopOf } from '../../query/plan/hop.ts';
import { encodeObjectId } from '../../query/plan/object-id.ts';
import type { Projection } from '../../query/plan/plan.ts';
import { isStored, objectsById } from '../../query/read/object-rows.ts';
import { readiness } from '../../query/read/readiness.ts';
import { type GraphHop, relatedGraph } from '../../query/related/graph.ts';
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
    const hops = new Map<string, readonly GraphHop[]>();
    const hopsFrom = (key: string): readonly GraphHop[] => {
      const known = hops.get(key) ?? graphHops(operation, key, synced);
      hops.set(key, known);
      return known;
    };
    const includes = (key: string): boolean =>
      generation.kind(key) !== undefined && (wanted?.has(key) ?? key !== 'events');
    const start = { id: row.objectId, key: kind.key };
    const found = await relatedGraph(lease, view, start, { depth, limit, hopsOf: hopsFrom, includes });
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

/** The hops of a kind, without owner references and weak references. */
function graphHops({ generation }: Operation, key: string, synced: ReadonlySet<string>): readonly GraphHop[] {
  const kind = generation.kind(key);
  if (kind === undefined) return [];
  return kind.relations.flatMap((relation): readonly GraphHop[] => {
    const { to, way, weak, forward } = relation;
    if (way.by === 'owner' || weak) return [];
    const ends: readonly (CatalogKind | undefined)[] =
      to === null ? [...synced].map((each) => generation.kind(each)) : synced.has(to) ? [generation.kind(to)] : [];
    return ends.flatMap((end) => (end === undefined ? [] : [{ hop: hopOf(kind, relation, end), relation: forward }]));
  });
}

function checkBound(name: string, value: number, most: number): void {
  if (value >= 1 && value <= most) return;
  throw new PortolanError('BAD_USER_INPUT', `\`${name}\` of a graph is ${value}; it must be from 1 to ${most}.`);
}
