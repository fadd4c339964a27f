/**
 * Hops as SQL. `s` is a row of `object` in the enclosing query, and `x` a row of `object` that it leads to.
 *
 *   reference  forward   s -> reference -> target -> x by its name
 *              reverse   s by its name -> target -> reference_by_target -> x
 *   owner      forward   s -> edge -> object_by_uid -> x
 *              reverse   s -> edge_owner -> x
 *   selector   forward   s -> selector -> object_by_label -> x; s -> selector -> x, if the labels are not those of the metadata
 *              reverse   labels of s -> selector -> x
 *   namespace  forward   s -> x by its name
 *              reverse   s -> x by its namespace
 *
 * A reverse reference and a forward selector have a second form, the walk. A walk reads the rows of x in identity order and checks each
 * row. If most rows belong to s, a page is soon full, and the walk ends. So it suits an s with many related objects and a small page.
 *
 * Both ends are in one cluster. The caller adds the condition that rows of x count. A row of x may occur more than once (`rows`).
 */
import { must } from '../../base/must.ts';
import { isAbstractKey } from '../../catalog/groups/api-group.ts';
import { statesNamespace } from '../../catalog/relations/place-text.ts';
import { parsePath } from '../../catalog/tree/path.ts';
import { all, type Fragment, isIn, raw, sql } from '../../store/types/sql.ts';
import { type Hop, type HopEnd, leadsToOne } from '../plan/hop.ts';
import { NotReadyError } from '../plan/not-ready.ts';
import { countsOfAny } from './counts.ts';
import type { KindTables } from './kind-tables.ts';
import type { View } from './view.ts';

export interface HopSql {
  /** A FROM clause that ends with the base table of x. */
  readonly from: Fragment;
  readonly where: Fragment;
  /** `one`: at most one row of x. `repeated`: rows of x may occur more than once. */
  readonly rows: 'one' | 'many' | 'repeated';
}

/**
 * The rows that a hop leads to.
 * @param s the alias of a row of `object`.
 * @param x tables of the kind `hop.to` with the base `o`.
 * @throws PortolanError CACHE_NOT_READY while the references or selectors are still being read.
 */
export function hopSql(hop: Hop, s: Fragment, x: KindTables): HopSql {
  const { direction, way } = hop;
  switch (way.by) {
    case 'reference': {
      const places = placeIds(hop, x.kind.view, way.places);
      if (direction === 'reverse') return toReferrers(hop, places, s, x);
      if (x.kind.anyAs !== null) return { ...toTargetsOfAny(places, s, x), rows: leadsToOne(hop) ? 'one' : 'repeated' };
      return { ...toTargets(hop, places, s, x), rows: leadsToOne(hop) ? 'one' : 'repeated' };
    }
    case 'owner':
      return direction === 'forward' ? toOwners(s, x) : toOwned(s, x);
    case 'selector': {
      const [place] = placeIds(hop, x.kind.view, [way.place]);
      const id = must(place, 'the place of the selector');
      if (direction === 'reverse') return toSelecting(hop, id, s, x);
      return way.labels === undefined ? toSelected(hop, id, s, x) : toSelectedOfAll(hop, id, s, x);
    }
    case 'namespace':
      return direction === 'forward' ? toNamespace(hop, s, x) : inNamespace(hop, s, x);
  }
}

/** The walk of a hop that has one; null for the others. Its rows of x occur once. */
export function walkSql(hop: Hop, s: Fragment, x: KindTables): HopSql | null {
  const { direction, way } = hop;
  if (way.by === 'reference' && direction === 'reverse') {
    const places = placeIds(hop, x.kind.view, way.places);
    const [r, t] = [x.named('r'), x.named('t')];
    const refers = sql`EXISTS (SELECT 1 FROM target AS ${t} CROSS JOIN reference AS ${r} ON ${r}.id = ${x.column('id')}
      AND ${placeIn(x, places)} AND ${r}.target = ${t}.id WHERE ${names(t, hop.from, s)})`;
    const own = hop.from.namespaced && hop.to.namespaced && !way.places.some(statesNamespace);
    const here = own ? sql`${x.column('namespace')} = ${s}.namespace` : raw('1');
    return { from: x.from(), where: all([inCluster(s, x), here, refers]), rows: 'many' };
  }
  if (way.by === 'selector' && way.labels === undefined && direction === 'forward') {
    const [place] = placeIds(hop, x.kind.view, [way.place]);
    return toSelectedOfAll(hop, must(place, 'the place of the selector'), s, x);
  }
  return null;
}

/** The number of rows that the index entries of a hop lead to, at most `limit`; null for a hop without a walk. */
export function hopEntries(hop: Hop, s: Fragment, x: KindTables, limit: number): Fragment | null {
  const { direction, way } = hop;
  const bound = BigInt(limit);
  if (way.by === 'reference' && direction === 'reverse') {
    const places = placeIds(hop, x.kind.view, way.places);
    const [r, t] = [x.named('r'), x.named('t')];
    return sql`(SELECT count(*) FROM (SELECT 1 FROM target AS ${t} CROSS JOIN reference_by_target AS ${r}
      ON ${r}.target = ${t}.id AND ${r}.kind = ${BigInt(x.kind.kindId)} AND ${placeIn(x, places)}
      WHERE ${names(t, hop.from, s)} LIMIT ${bound}))`;
  }
  if (way.by === 'selector' && way.labels === undefined && direction === 'forward') {
    const [place] = placeIds(hop, x.kind.view, [way.place]);
    const [q, l] = [x.named('q'), x.named('l')];
    return sql`(SELECT count(*) FROM (SELECT 1 FROM selector AS ${q} CROSS JOIN object_by_label AS ${l}
      ON ${l}.kind = ${BigInt(x.kind.kindId)} AND ${l}.key = ${q}.key AND ${l}.value = ${q}.value
      WHERE ${selectorOf(q, must(place, 'the place of the selector'), s)} LIMIT ${bound}))`;
  }
  return null;
}

/** The ids of the places in the store. */
function placeIds({ from, to, direction }: Hop, view: View, texts: readonly string[]): readonly number[] {
  return readyPlaces(view, direction === 'forward' ? from.key : to.key, texts);
}

function toTargets({ to }: Hop, places: readonly number[], s: Fragment, x: KindTables): Omit<HopSql, 'rows'> {
  const [r, t] = [x.named('r'), x.named('t')];
  const namespace = to.namespaced ? sql`${t}.namespace` : raw(`''`);
  return {
    from: sql`reference AS ${r} CROSS JOIN target AS ${t} ON ${t}.id = ${r}.target AND +${t}.named = ${namedId(to)}
      CROSS JOIN ${x.from()} ON ${x.isOfKind()} AND ${x.column('cluster')} = ${t}.cluster
        AND ${x.column('namespace')} = ${namespace} AND ${x.column('name')} = ${t}.name`,
    where: all([sql`${r}.id = ${s}.id`, placeIn(x, places)]),
  };
}

/** As toTargets, for the kind that each reference states. A cluster-scoped object has no namespace, so its scope needs not be known. */
function toTargetsOfAny(places: readonly number[], s: Fragment, x: KindTables): Omit<HopSql, 'rows'> {
  const [r, t, n] = [x.named('r'), x.named('t'), x.named('n')];
  const o = x.objectAlias();
  return {
    from: sql`reference AS ${r} CROSS JOIN target AS ${t} ON ${t}.id = ${r}.target
      CROSS JOIN named_kind AS ${n} ON ${n}.id = ${t}.named
      CROSS JOIN ${x.from()} ON ${o}.kind = ${kindNamed(x.kind.view, n)} AND ${o}.cluster = ${t}.cluster
        AND ${o}.namespace IN (${t}.namespace, '') AND ${o}.name = ${t}.name`,
    where: all([sql`${r}.id = ${s}.id`, placeIn(x, places)]),
  };
}

/** The id of the kind that a row of `named_kind` names; null if there is none. The names are any texts of objects, so they are quoted. */
function kindNamed({ kindIds }: View, n: Fragment): Fragment {
  return sql`(${kindIds} ->> ('$.' || json_quote(iif(${n}.grp = '', ${n}.kind, ${n}.kind || '.' || ${n}.grp))))`;
}

function toReferrers({ from }: Hop, places: readonly number[], s: Fragment, x: KindTables): HopSql {
  const [r, t] = [x.named('r'), x.named('t')];
  return {
    from: sql`target AS ${t} CROSS JOIN reference_by_target AS ${r} ON ${r}.target = ${t}.id
        AND ${r}.kind = ${BigInt(x.kind.kindId)} AND ${placeIn(x, places)}
      CROSS JOIN ${x.from()} ON ${x.column('id')} = ${r}.id`,
    where: names(t, from, s),
    rows: places.length > 1 || !from.namespaced ? 'repeated' : 'many',
  };
}

/**
 * The condition that the row `t` of `target` names `s`, an object of `end`. References to cluster-scoped objects have a namespace in the store if
 * the referring object has one, so it is not compared.
 */
export function names(t: Fragment, end: HopEnd, s: Fragment): Fragment {
  const scope = end.namespaced ? sql` AND ${t}.namespace = ${s}.namespace` : raw('');
  return sql`${t}.named = ${namedId(end)} AND ${t}.cluster = ${s}.cluster AND ${t}.name = ${s}.name${scope}`;
}

function toOwners(s: Fragment, x: KindTables): HopSql {
  const [e, u] = [x.named('g'), x.named('u')];
  return {
    from: sql`edge AS ${e} CROSS JOIN object_by_uid AS ${u} ON ${u}.uid = ${e}.owner_uid
      CROSS JOIN ${x.from()} ON ${x.column('id')} = ${u}.id`,
    where: all([sql`${e}.id = ${s}.id`, sql`+${x.isOfKind()}`, inCluster(s, x, '+')]),
    rows: 'many',
  };
}

function toOwned(s: Fragment, x: KindTables): HopSql {
  const e = x.named('g');
  return {
    from: sql`edge AS ${e} CROSS JOIN ${x.from()} ON ${x.column('id')} = ${e}.id`,
    where: all([sql`${e}.owner_uid = ${s}.uid AND ${e}.kind = ${BigInt(x.kind.kindId)}`, inCluster(s, x, '+')]),
    rows: 'many',
  };
}

function toSelected(hop: Hop, place: number, s: Fragment, x: KindTables): HopSql {
  const [q, l] = [x.named('q'), x.named('l')];
  const ofKind = sql`${l}.kind = ${BigInt(x.kind.kindId)}`;
  const byLabel = sql`SELECT ${q}.needs AS needs, ${q}.cluster AS cluster, ${q}.namespace AS namespace, ${l}.id AS id
    FROM selector AS ${q} CROSS JOIN object_by_label AS ${l} ON ${ofKind} AND ${l}.key = ${q}.key AND ${l}.value = ${q}.value
    WHERE ${selectorOf(q, place, s)}`;
  const o = x.named('w');
  const ofScope = hop.to.namespaced && hop.from.namespaced ? sql` AND ${o}.namespace = ${q}.namespace` : raw('');
  const withoutLabel = sql`SELECT ${q}.needs, ${q}.cluster, ${q}.namespace, ${o}.id
    FROM selector AS ${q} CROSS JOIN object AS ${o} ON ${o}.kind = ${BigInt(x.kind.kindId)} AND ${o}.cluster = ${q}.cluster${ofScope}
    WHERE ${selectorOf(q, place, s)} AND ${q}.key = ''`;
  const d = x.named('d');
  return {
    from: sql`(${byLabel} UNION ALL ${withoutLabel}) AS ${d} CROSS JOIN ${x.from()} ON ${x.column('id')} = ${d}.id`,
    where: all([
      sql`+${x.column('cluster')} = ${d}.cluster`,
      ...sameScope(hop, d, x, '+'),
      needsMet(d, x.column('marks')),
    ]),
    rows: 'many',
  };
}

/** As toSelected, by a look at each object of the kind in the cluster and the namespace. */
function toSelectedOfAll(hop: Hop, place: number, s: Fragment, x: KindTables): HopSql {
  const q = x.named('q');
  const marks = marksOf(hop, x.objectAlias(), x.named('h'));
  const label = sql`(${q}.key = '' OR (${marks} ->> ('$[0].' || json_quote(${q}.key))) = ${q}.value)`;
  return {
    from: sql`selector AS ${q} CROSS JOIN ${x.from()}`,
    where: all([selectorOf(q, place, s), inCluster(s, x), ...sameScope(hop, q, x), label, needsMet(q, marks)]),
    rows: 'many',
  };
}

/** The marks of a row of the selected kind, with the labels that the selector is about. @param h an unused alias */
function marksOf({ way }: Hop, row: Fragment, h: Fragment): Fragment {
  if (way.by !== 'selector' || way.labels === undefined) return sql`${row}.marks`;
  const path = parsePath(way.labels).steps.map((step) =>
    step.kind === 'field' ? `.${JSON.stringify(step.name)}` : '',
  );
  const labels = `$${path.join('')}`;
  return sql`json_array(json(coalesce((SELECT ${h}.body -> ${labels} FROM body AS ${h}
    WHERE ${h}.id = ${row}.id AND json_type(${h}.body, ${labels}) = 'object'), '{}')))`;
}

function toSelecting(hop: Hop, place: number, s: Fragment, x: KindTables): HopSql {
  const [q, l] = [x.named('q'), x.named('l')];
  const marks = marksOf(hop, s, x.named('h'));
  // A selector without a pair has the key ''. The labels of no object have it.
  const labels = sql`json_each(json_set(${marks} -> '$[0]', '$.""', '')) AS ${l}`;
  const namespace = hop.to.namespaced && hop.from.namespaced ? sql`${s}.namespace` : raw(`''`);
  const scope = hop.to.namespaced && !hop.from.namespaced ? raw('1') : sql`${q}.namespace = ${namespace}`;
  return {
    from: sql`${labels} CROSS JOIN selector AS ${q} ON ${q}.place = ${BigInt(place)} AND ${q}.cluster = ${s}.cluster
        AND ${scope} AND ${q}.key = ${l}.key AND ${q}.value = ${l}.value
      CROSS JOIN ${x.from()} ON ${x.column('id')} = ${q}.id`,
    where: needsMet(q, marks),
    rows: 'many',
  };
}

function toNamespace({ from }: Hop, s: Fragment, x: KindTables): HopSql {
  const here = sql`${x.column('cluster')} = ${clusterOf(from, s)}`;
  const named = sql`${x.column('namespace')} = '' AND ${x.column('name')} = ${s}.namespace`;
  return { from: x.from(), where: all([x.isOfKind(), here, named]), rows: 'one' };
}

function inNamespace({ to }: Hop, s: Fragment, x: KindTables): HopSql {
  const here = sql`${clusterOf(to, x.objectAlias())} = ${s}.cluster`;
  const named = sql`${x.column('namespace')} = ${s}.name`;
  return { from: x.from(), where: all([x.isOfKind(), here, named]), rows: 'many' };
}

/** The cluster of a row. That of an abstract kind has the member behind it (memberCluster). */
function clusterOf({ key }: HopEnd, row: Fragment): Fragment {
  if (!isAbstractKey(key)) return sql`${row}.cluster`;
  const start = sql`rtrim(${row}.cluster, replace(${row}.cluster, '/', ''))`;
  return sql`substr(${start}, 1, length(${start}) - 1)`;
}

/** By the index of ids. The plus keeps SQLite from reading all selectors of the place by the primary key. */
function selectorOf(q: Fragment, place: number, s: Fragment): Fragment {
  return sql`${q}.id = ${s}.id AND +${q}.place = ${BigInt(place)}`;
}

/** A namespaced object selects objects of its namespace; a cluster-scoped one those of all namespaces. */
function sameScope({ from, to }: Hop, q: Fragment, x: KindTables, plus: '+' | '' = ''): readonly Fragment[] {
  return from.namespaced && to.namespaced ? [sql`${raw(plus)}${x.column('namespace')} = ${q}.namespace`] : [];
}

function needsMet(q: Fragment, marks: Fragment): Fragment {
  return sql`(${q}.needs IS NULL OR selects(${q}.needs, ${marks}))`;
}

function inCluster(s: Fragment, x: KindTables, plus: '+' | '' = ''): Fragment {
  return all([...(plus === '' ? [x.isOfKind()] : []), sql`${raw(plus)}${x.column('cluster')} = ${s}.cluster`]);
}

function placeIn(x: KindTables, places: readonly number[]): Fragment {
  return isIn(sql`${x.named('r')}.place`, places.map(BigInt));
}

function namedId({ group, kind }: HopEnd): Fragment {
  return sql`(SELECT id FROM named_kind WHERE grp = ${group} AND kind = ${kind})`;
}

/**
 * The condition that at least one object names a row of `tables`, at a place that is not weak.
 * @param of the kind of the row; `anyEnd` for rows of any kind.
 * @throws PortolanError CACHE_NOT_READY while references of any kind are still being read.
 */
export function isUsed(tables: KindTables, of: HopEnd, weak: readonly string[]): Fragment {
  const { view } = tables.kind;
  view.dependOnAnyKind();
  const places = [...view.layouts].flatMap(([key, { places: known }]) =>
    readyPlaces(
      view,
      key,
      known.map(({ text }) => text),
    ).filter((_, index) => !weak.includes(known[index]?.text ?? '')),
  );
  const [t, r, u, n] = [tables.named('t'), tables.named('r'), tables.named('u'), tables.named('n')];
  const s = tables.objectAlias();
  const isNamed =
    tables.kind.anyAs === null
      ? names(t, of, s)
      : sql`${t}.named IN (SELECT ${n}.id FROM named_kind AS ${n} WHERE ${kindNamed(view, n)} = ${s}.kind)
          AND ${t}.cluster = ${s}.cluster AND ${t}.name = ${s}.name AND (${s}.namespace = '' OR ${t}.namespace = ${s}.namespace)`;
  return sql`EXISTS (SELECT 1 FROM target AS ${t} CROSS JOIN reference_by_target AS ${r} ON ${r}.target = ${t}.id
      AND ${isIn(sql`${r}.place`, places.map(BigInt))} CROSS JOIN object AS ${u} ON ${u}.id = ${r}.id
    WHERE ${all([isNamed, countsOfAny(view, u)])})`;
}

/**
 * The ids of these places of a kind (placeText).
 * @throws PortolanError CACHE_NOT_READY while the objects of the kind are still being read for one of them.
 */
export function readyPlaces(view: View, key: string, texts: readonly string[]): readonly number[] {
  const known = view.get(key)?.places ?? [];
  return texts.map((text) => {
    const place = known.find((each) => each.text === text);
    if (place?.ready === true) return place.id;
    throw new NotReadyError(
      { keys: [key], clusters: null, any: false, related: true },
      `Relations of ${key} are not ready: the references of its objects are still being read. Try again in a moment.`,
    );
  });
}
