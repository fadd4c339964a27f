/** Reads the references of objects by name. The named objects may not exist. */
import { isReferencePlace } from '../../catalog/relations/place-text.ts';
import type { Lease } from '../../store/types/lease.ts';
import { isIn, raw, sql } from '../../store/types/sql.ts';
import type { Identity } from '../plan/filter.ts';
import type { Hop, HopEnd } from '../plan/hop.ts';
import { names, readyPlaces } from '../sql/hop-sql.ts';
import type { KindView, View } from '../sql/view.ts';

/** One reference of an object. */
export interface StatedReference {
  /** placeText */
  readonly place: string;
  readonly cluster: string;
  readonly group: string;
  readonly kind: string;
  /** The stated namespace, or that of the referring object; empty for a reference of a cluster-scoped object that states none. */
  readonly namespace: string;
  readonly name: string;
}

/**
 * The objects that references name, each once.
 * @param kindOf the kind that a reference states; undefined: the reference is left out
 */
export function identitiesOf(
  references: readonly StatedReference[],
  kindOf: (group: string, kind: string) => Pick<HopEnd, 'key' | 'namespaced'> | undefined,
): readonly Identity[] {
  const found = new Map<string, Identity>();
  for (const { cluster, group, kind, namespace, name } of references) {
    const end = kindOf(group, kind);
    if (end === undefined) continue;
    const identity = { cluster, key: end.key, namespace: end.namespaced ? namespace : null, name };
    found.set(JSON.stringify(identity), identity);
  }
  return [...found.values()];
}

/**
 * The references of each of these objects of one kind, in the order of the objects. They are sorted by place, kind, namespace and
 * name.
 * @param places only at these places (placeText); null for all.
 * @throws PortolanError CACHE_NOT_READY while the references are still being read.
 */
export async function referencesOf(
  lease: Lease,
  kind: KindView,
  ids: readonly number[],
  places: readonly string[] | null,
): Promise<StatedReference[][]> {
  const found = ids.map((): StatedReference[] => []);
  const wanted = places ?? kind.places.map(({ text }) => text).filter(isReferencePlace);
  if (wanted.length === 0) return found;
  const texts = new Map(readyPlaces(kind.view, kind.key, wanted).map((id, index) => [id, wanted[index] ?? '']));
  const rows = await lease.all(
    sql`SELECT j.key, r.place, t.cluster, n.grp, n.kind, t.namespace, t.name
      FROM json_each(${JSON.stringify(ids)}) AS j CROSS JOIN reference AS r ON r.id = j.value
        AND ${isIn(raw('r.place'), [...texts.keys()].map(BigInt))}
      CROSS JOIN target AS t ON t.id = r.target CROSS JOIN named_kind AS n ON n.id = t.named
      ORDER BY j.key, r.place, n.grp, n.kind, t.namespace, t.name`,
  );
  for (const [at, place, cluster, group, named, namespace, name] of rows) {
    found[Number(at)]?.push({
      place: texts.get(Number(place)) ?? '',
      cluster: String(cluster),
      group: String(group),
      kind: String(named),
      namespace: String(namespace),
      name: String(name),
    });
  }
  return found;
}

/** A pair of related objects, by object id. */
interface RelatedPair {
  readonly from: number;
  readonly to: number;
}

/** The places of the references between each of these pairs, by which a hop leads from one to the other. */
export async function placesBetween(
  lease: Lease,
  view: View,
  { direction, from, to, way }: Hop,
  pairs: readonly RelatedPair[],
): Promise<string[][]> {
  const found = pairs.map((): string[] => []);
  const [source, target] = direction === 'forward' ? [from, to] : [to, from];
  const known = way.by === 'reference' ? (view.get(source.key)?.places ?? []) : [];
  const texts = new Map(
    known.flatMap(({ id, text }) => (way.by === 'reference' && way.places.includes(text) ? [[id, text] as const] : [])),
  );
  if (texts.size === 0) return found;
  const ends = pairs.map((pair) => (direction === 'forward' ? [pair.from, pair.to] : [pair.to, pair.from]));
  const rows = await lease.all(
    sql`SELECT DISTINCT j.key, r.place FROM json_each(${JSON.stringify(ends)}) AS j CROSS JOIN object AS s ON s.id = j.value ->> 1
      CROSS JOIN target AS t ON ${names(raw('t'), target, raw('s'))}
      CROSS JOIN reference AS r ON r.id = j.value ->> 0 AND ${isIn(raw('r.place'), [...texts.keys()].map(BigInt))} AND r.target = t.id
      ORDER BY j.key, r.place`,
  );
  for (const [at, place] of rows) found[Number(at)]?.push(texts.get(Number(place)) ?? '');
  return found;
}
