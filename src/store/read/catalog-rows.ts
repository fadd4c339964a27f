/**
 * Reads descriptions of resources from the store, so that the serve thread and a restarted gateway need no discovery.
 *
 * Descriptions are large: 20 MB for a thousand CRDs. So they are read in two steps: first a small row for each, then the texts that the
 * caller lacks, in messages of bounded size.
 */
import type { NamedKind } from '../../catalog/names/kind-names.ts';
import type { Lease } from '../types/lease.ts';
import type { Row } from '../types/statement.ts';

/** A description without its text. */
export interface DescriptionRow {
  /** The rowid of the description, valid only in this snapshot. */
  readonly id: number;
  readonly cluster: string;
  /** The resourceKey. */
  readonly key: string;
  /** Bytes of the text. */
  readonly length: number;
  /** A hash of the text. */
  readonly digest: string;
}

/** Most bytes of texts in one message. A longer text gets a message of its own. */
const messageLength = 256 * 1024;

/** A version that increases with every change of a description. */
export async function readCatalogVersion(lease: Lease): Promise<number> {
  const [row] = await lease.all({ sql: 'SELECT catalog_version FROM state', params: [] });
  return Number(row?.[0]);
}

/** The descriptions of these resources (all of them without `wanted`), sorted by cluster and kind. */
export async function readDescriptionRows(
  lease: Lease,
  wanted?: readonly Pick<DescriptionRow, 'cluster' | 'key'>[],
): Promise<readonly DescriptionRow[]> {
  const only =
    wanted === undefined ? '' : 'AND (d.cluster, k.key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))';
  const rows = await lease.all({
    sql: `SELECT d.rowid, d.cluster, k.key, octet_length(d.json), digest(CAST(d.json AS BLOB))
      FROM description d JOIN kind k ON k.id = d.kind WHERE tick() = 0 ${only} ORDER BY d.cluster, k.key`,
    params: wanted === undefined ? [] : [JSON.stringify(wanted.map(({ cluster, key }) => [cluster, key]))],
  });
  return rows.map(([id, cluster, key, length, digest]) => ({
    id: Number(id),
    cluster: String(cluster),
    key: String(key),
    length: Number(length),
    digest: String(digest),
  }));
}

/** A kind that came, and its place in the order of those of all cells. */
export interface KindThatCame {
  readonly kind: NamedKind;
  readonly place: number;
}

/** The kinds in the order in which they came, also kinds that are gone. */
export async function readKindsThatCame(lease: Lease): Promise<readonly KindThatCame[]> {
  const rows = await lease.all({
    sql: 'SELECT k.grp, k.plural, c.name, c.id FROM kind_came c JOIN kind k ON k.id = c.kind ORDER BY c.id',
    params: [],
  });
  return rows.map(([group, plural, kind, place]) => ({
    kind: { group: String(group), plural: String(plural), kind: String(kind) },
    place: Number(place),
  }));
}

/** The texts of descriptions (a DescribedResource as JSON) by their ids. `rows` must be of the same snapshot. */
export async function readDescriptionTexts(
  lease: Lease,
  rows: readonly Pick<DescriptionRow, 'id' | 'length'>[],
): Promise<ReadonlyMap<number, string>> {
  const texts = new Map<number, string>();
  for (const some of messages(rows)) {
    const found: readonly Row[] = await lease.all({
      sql: 'SELECT rowid, json FROM description WHERE rowid IN (SELECT value FROM json_each(?))',
      params: [JSON.stringify(some.map(({ id }) => id))],
    });
    for (const [id, json] of found) texts.set(Number(id), String(json));
  }
  return texts;
}

function* messages<R extends { readonly length: number }>(rows: readonly R[]): Generator<readonly R[]> {
  let some: R[] = [];
  let length = 0;
  for (const row of rows) {
    if (some.length > 0 && length + row.length > messageLength) {
      yield some;
      some = [];
      length = 0;
    }
    some.push(row);
    length += row.length;
  }
  if (some.length > 0) yield some;
}
