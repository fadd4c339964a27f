/**
 * Searches as SQL. The counterpart of searchText (src/catalog/paths/search-text.ts).
 *
 * The index (src/store/rows/search-index.ts) only provides candidates, and it may lag. The condition checks the terms in the
 * object's stored search text, or in its body where that text is out of date. So an answer does not depend on the state of the
 * index.
 *
 *   search "web1" -> candidates   search_index MATCH '"web" AND "eb1"', UNION the objects that are not indexed yet
 *                 -> condition    instr(<search text>, 'web1') > 0
 */
import { PortolanError } from '../../base/errors.ts';
import { trigrams, writtenPaths } from '../../catalog/paths/search-text.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, type Fragment, isIn, join, raw, sql } from '../../store/types/sql.ts';
import { conjuncts, type Filter } from '../plan/filter.ts';
import type { KindTables } from './kind-tables.ts';

export type Search = Extract<Filter, { kind: 'search' }>;

/** The searches among the filter's top-level conjuncts. */
export function searchesIn(filter: Filter): readonly Search[] {
  return conjuncts(filter).filter((part) => part.kind === 'search');
}

/** The condition that the search text of an object contains all terms. */
export function searchCondition(tables: KindTables, { terms, paths }: Search): Fragment {
  const id = tables.column('id');
  const text = sql`coalesce(
    (SELECT s.text FROM search_text AS s WHERE s.id = ${id} AND s.seq = ${tables.column('seq')}),
    search_text(${writtenPaths(paths)}, (SELECT coalesce(h.text, json(h.body)) FROM body AS h WHERE h.id = ${id})))`;
  return all(terms.map((term) => sql`instr(${text}, ${term}) > 0`));
}

/**
 * The rank of the name: the sum over all terms of 0 equal, 1 prefix, 2 contained, 3 not contained. It depends on the object alone, so
 * its position in a ranked list is stable.
 */
export function rankSql(tables: KindTables, terms: readonly string[]): Fragment {
  const name = tables.column('name');
  const ranks = terms.map(
    (term) => sql`CASE WHEN lower(${name}) = ${term} THEN 0
      ELSE CASE instr(lower(${name}), ${term}) WHEN 0 THEN 3 WHEN 1 THEN 1 ELSE 2 END END`,
  );
  return sql`(${join([raw('0'), ...ranks], ' + ')})`;
}

/** Trigrams of one term in an index query. They suffice to select few candidates; the condition checks the whole term. */
const mostTrigrams = 16;

/** A SELECT of the ids of all objects that may have the terms; null when no term is long enough for the index. */
export function searchCandidates({ terms }: Search): Fragment | null {
  // A NUL would end the query of the index.
  const runs = terms.flatMap((term) => trigrams(term).slice(0, mostTrigrams)).filter((run) => !run.includes('\0'));
  if (runs.length === 0) return null;
  const query = [...new Set(runs)].map((run) => `"${run.replaceAll('"', '""')}"`).join(' AND ');
  return sql`SELECT rowid AS id FROM search_index WHERE search_index MATCH ${query}
    UNION SELECT id FROM search_pending
    UNION SELECT id FROM object WHERE id > (SELECT watermark FROM search_state)`;
}

/** The most objects without an index entry that one search may have to read. */
const mostUnindexed = 5000;

/**
 * Asserts that the index can serve the filter's search: it covers the searched paths and nearly all objects of these kinds. Does
 * nothing for a filter without a search.
 * @param kindIds the searched kinds. Without kinds, only the paths are checked.
 * @throws PortolanError CACHE_NOT_READY
 */
export async function requireSearchable(lease: Lease, kindIds: readonly number[], filter: Filter): Promise<void> {
  const search = findSearch(filter);
  if (search === null) return;
  const kinds = isIn(raw('+kind'), kindIds.map(BigInt));
  const [row] = await lease.all(
    sql`SELECT paths, (SELECT count(*) FROM (SELECT 1 FROM object WHERE id > watermark AND ${kinds} LIMIT ${BigInt(mostUnindexed + 1)}))
      FROM search_state`,
  );
  const same = row?.[0] === writtenPaths(search.paths);
  if (same && Number(row?.[1]) <= mostUnindexed) return;
  throw new PortolanError('CACHE_NOT_READY', 'The search index is still being built; try again in a moment.');
}

/** The first search anywhere in the filter; null without one. */
export function findSearch(filter: Filter): Search | null {
  switch (filter.kind) {
    case 'search':
      return filter;
    case 'and':
    case 'or':
      for (const part of filter.of) {
        const found = findSearch(part);
        if (found !== null) return found;
      }
      return null;
    case 'not':
    case 'related':
      return findSearch(filter.of);
    default:
      return null;
  }
}
