/** The objects that objects of several kinds name, whether they exist or not. Weak references are left out. */
import { failed, type HealthStatus } from '../../catalog/health/health-status.ts';
import { valuesAt } from '../../catalog/paths/value-at.ts';
import { pathOfMention } from '../../catalog/relations/place-text.ts';
import { referencePlaces } from '../../catalog/resources/reference-places.ts';
import { type PathStep, parsePath } from '../../catalog/tree/path.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import type { Operation } from '../../operation/operation.ts';
import type { Identity } from '../../query/plan/filter.ts';
import type { ProjectionTree } from '../../query/plan/plan.ts';
import { objectsById } from '../../query/read/object-rows.ts';
import { referencesOf, type StatedReference } from '../../query/related/references.ts';
import type { View } from '../../query/sql/view.ts';
import type { Lease } from '../../store/types/lease.ts';
import { type StatedObject, statedObjects } from './reference-source.ts';

/** An object that another one names. */
export interface NamedObject {
  readonly identity: Identity;
  /** Object id in the store; null for an object that does not exist. */
  readonly id: number | null;
  readonly status: HealthStatus;
  /** Why a missing object is Failed. */
  readonly message: string | null;
}

export interface NamedObjects {
  /** By the object id of the naming object. */
  readonly byId: ReadonlyMap<number, readonly NamedObject[]>;
  /** All references. */
  readonly count: number;
}

interface Naming {
  /** Object id in the store. */
  readonly id: number;
  /** resourceKey */
  readonly key: string;
}

/**
 * The objects that each of these objects names. Objects that the caller may not list are left out. A missing object is left out if its kind is
 * not synced or not wholly visible.
 * @throws PortolanError CACHE_NOT_READY while references are still being read.
 */
export async function namedObjects(
  operation: Operation,
  lease: Lease,
  view: View,
  objects: readonly Naming[],
): Promise<NamedObjects> {
  const stated = await statedBy(operation, lease, view, objects);
  const distinct = new Map(stated.map(({ reference }) => [textOfTarget(reference), reference]));
  const found = await statedObjects(operation, lease, view, [...distinct.values()], {}, 'list');
  const targets = new Map([...distinct.keys()].map((text, index) => [text, found[index]]));
  const missing = stated.filter(({ reference }) => targets.get(textOfTarget(reference))?.state === 'MISSING');
  const optional = await optionalOf(lease, missing);
  const byId = new Map<number, NamedObject[]>();
  for (const each of stated) {
    const { by, reference } = each;
    const named = optional.has(each) ? null : namedObject(reference, targets.get(textOfTarget(reference)));
    if (named === null) continue;
    const known = byId.get(by.id);
    if (known === undefined) byId.set(by.id, [named]);
    else known.push(named);
  }
  return { byId, count: stated.length };
}

interface Stated {
  /** The naming object. */
  readonly by: Naming;
  readonly reference: StatedReference;
}

async function statedBy(
  { generation }: Operation,
  lease: Lease,
  view: View,
  objects: readonly Naming[],
): Promise<readonly Stated[]> {
  const found: Stated[] = [];
  for (const [key, some] of Map.groupBy(objects, (object) => object.key)) {
    const kind = generation.kind(key);
    const tables = view.get(key);
    if (kind === undefined || tables === undefined) continue;
    const ids = [...new Set(some.map(({ id }) => id))];
    const references = await referencesOf(lease, tables, ids, referencePlaces(kind, { weak: false }));
    for (const [at, id] of ids.entries()) {
      for (const reference of references[at] ?? []) found.push({ by: { id, key }, reference });
    }
  }
  return found;
}

/** Those of these references that say `optional: true` beside the name, as for a ConfigMap or a Secret of a Pod. */
async function optionalOf(lease: Lease, references: readonly Stated[]): Promise<ReadonlySet<Stated>> {
  if (references.length === 0) return new Set();
  const objects = new Map(references.map(({ by }) => [by.id, by]));
  const mentions = new Map(
    references.map(({ reference: { place } }) => [place, parsePath(pathOfMention(place)).steps] as const),
  );
  const rows = await objectsById(lease, [...objects.values()], projectionOf([...mentions.values()]));
  const bodies = new Map(rows.map(({ objectId, body }) => [objectId, body]));
  return new Set(
    references.filter(({ by, reference: { place, name } }) => {
      const steps = mentions.get(place) ?? [];
      const last = steps.at(-1);
      if (last?.kind !== 'field') return false;
      const beside = valuesAt(bodies.get(by.id), { steps: steps.slice(0, -1) }).map(recordOf);
      const naming = beside.filter((record) => record?.[last.name] === name);
      return naming.length > 0 && naming.every((record) => record?.['optional'] === true);
    }),
  );
}

/** The parts of a body that have these paths: the two fields at the beginning of each. */
function projectionOf(paths: readonly (readonly PathStep[])[]): ProjectionTree {
  const tree: Record<string, true | Record<string, true>> = {};
  for (const [first, second] of paths) {
    if (first?.kind !== 'field') continue;
    const known = tree[first.name] ?? {};
    tree[first.name] = known === true || second?.kind !== 'field' ? true : { ...known, [second.name]: true };
  }
  return tree;
}

function textOfTarget({ cluster, group, kind, namespace, name }: StatedReference): string {
  return JSON.stringify([cluster, group, kind, namespace, name]);
}

function namedObject({ place }: StatedReference, target: StatedObject | undefined): NamedObject | null {
  if (target?.kind === undefined || target.state === 'UNKNOWN') return null;
  const { stated, kind, object } = target;
  const { cluster, name } = stated;
  const namespace = kind.resource.namespaced ? stated.namespace : null;
  const identity = { cluster, key: kind.key, namespace, name };
  if (object !== null) return { identity, id: object.row.objectId, status: object.row.health.status, message: null };
  const text = `The ${stated.kind} ${namespace === null ? name : `${namespace}/${name}`}, named at ${pathOfMention(place)}, does not exist.`;
  return { identity, id: null, ...failed('Missing', text) };
}
