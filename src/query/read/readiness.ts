/**
 * Readiness of kinds. A read of a resource that is not synced fails; it never returns an empty list. The code is CACHE_NOT_READY if the
 * resource will be synced, and RESOURCE_REFUSED if the API server refuses it.
 */
import { PortolanError } from '../../base/errors.ts';
import type { Lease } from '../../store/types/lease.ts';
import { all, isIn, raw, sql } from '../../store/types/sql.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import { NotReadyError } from '../plan/not-ready.ts';

export interface Readiness {
  /** resourceKey. */
  readonly key: string;
  readonly cluster: string;
  /** True after the first complete list of each ingested namespace. Namespaces that the server refuses do not matter. */
  readonly synced: boolean;
  /** False when any namespace of the resource is missing. */
  readonly whole: boolean;
  /** Whether the references and selectors of its objects have been read. */
  readonly related: boolean;
  /** The refusal of the API server, if it refused every collection that is not synced; else null. */
  readonly refusal: string | null;
}

/** The store's resources of these kinds, sorted by key and cluster. @param clusters only in these; in all clusters by default. */
export async function readiness(
  lease: Lease,
  keys: readonly string[],
  clusters?: readonly string[],
): Promise<readonly Readiness[]> {
  return readinessIn(await lease.all(readinessStatement(keys, clusters)));
}

/** The statement of `readiness`, for callers that run several statements together. */
export function readinessStatement(keys: readonly string[], clusters?: readonly string[]): Statement {
  const where = [isIn(raw('k.key'), [...new Set(keys)])];
  if (clusters !== undefined) where.push(isIn(raw('r.cluster'), [...new Set(clusters)]));
  return sql`SELECT k.key, r.cluster, max(r.synced) AND min(r.synced OR r.status ->> '$.refused'), min(r.synced),
      CASE WHEN min(NOT r.synced AND coalesce(r.status ->> '$.refused', 0)) THEN max(r.status ->> '$.error') END,
      NOT EXISTS (SELECT 1 FROM reference_place AS p WHERE p.kind = k.id AND p.backfilled IS NOT NULL AND p.dropped = 0)
    FROM kind AS k CROSS JOIN resource AS r ON r.kind = k.id WHERE ${all(where)}
    GROUP BY k.key, r.cluster ORDER BY k.key, r.cluster`;
}

/**
 * The version of the API server that the tables have reached for a kind. Null if it is not known, and where namespaces are ingested apart.
 */
export async function reachedVersion(lease: Lease, key: string, cluster: string): Promise<string | null> {
  const rows = await lease.all(
    sql`SELECT r.last_rv FROM kind AS k CROSS JOIN resource AS r ON r.kind = k.id WHERE k.key = ${key} AND r.cluster = ${cluster}`,
  );
  const [first] = rows;
  return rows.length === 1 && typeof first?.[0] === 'string' ? first[0] : null;
}

/** Parses the rows of readinessStatement. */
export function readinessIn(rows: readonly Row[]): readonly Readiness[] {
  return rows.map(([key, cluster, synced, whole, refusal, related]) => ({
    key: String(key),
    cluster: String(cluster),
    synced: synced === 1,
    whole: whole === 1,
    related: related === 1,
    refusal: typeof refusal === 'string' ? refusal : null,
  }));
}

/** As `readiness`, in several cells. */
export async function readinessInCells(
  leases: readonly Lease[],
  keys: readonly string[],
  clusters?: readonly string[],
): Promise<readonly Readiness[]> {
  const [only, ...others] = leases;
  if (only !== undefined && others.length === 0) return readiness(only, keys, clusters);
  const found = (await Promise.all(leases.map((lease) => readiness(lease, keys, clusters)))).flat();
  const place = ({ key, cluster }: Readiness): string => `${key}\n${cluster}`;
  return found.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}

/**
 * Asserts that each of these kinds is synced in at least one of the clusters.
 * @param leases one for each cell
 * @returns the resources that are not whole: some or all of their objects are missing from an answer.
 * @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED naming the kinds that no cluster has synced.
 */
export async function requireReady(
  leases: readonly Lease[],
  keys: readonly string[],
  clusters?: readonly string[],
): Promise<readonly Pick<Readiness, 'key' | 'cluster'>[]> {
  return missingOf(await readinessInCells(leases, keys, clusters), keys, clusters);
}

/** Like requireReady, for a result of `readiness`. @throws PortolanError CACHE_NOT_READY or RESOURCE_REFUSED */
export function missingOf(
  found: readonly Readiness[],
  keys: readonly string[],
  clusters?: readonly string[],
): readonly Pick<Readiness, 'key' | 'cluster'>[] {
  const missing = [...new Set(keys)].filter((key) => !found.some((state) => state.key === key && state.synced));
  if (missing.length > 0) throw notReady(found, missing, clusters);
  return found.filter((state) => !state.whole).map(({ key, cluster }) => ({ key, cluster }));
}

/**
 * The state of one kind: `coming` until it is synced in one of the clusters, or refused by all of them.
 * @param related it is also coming until the references of its objects have been read.
 */
export function settledState(
  found: readonly Readiness[],
  key: string,
  clusters: readonly string[] | null,
  related = false,
): 'synced' | 'refused' | 'coming' {
  const states = found.filter((state) => state.key === key && (clusters === null || clusters.includes(state.cluster)));
  if (related && states.some((state) => !state.related)) return 'coming';
  if (states.some(({ synced }) => synced)) return 'synced';
  return states.length > 0 && states.every(({ refusal }) => refusal !== null) ? 'refused' : 'coming';
}

/** The error for kinds that are not synced. RESOURCE_REFUSED if waiting does not help. @param any one of the kinds would be enough. */
export function notReady(
  found: readonly Readiness[],
  keys: readonly string[],
  clusters?: readonly string[],
  any = false,
): PortolanError {
  const where = clusters === undefined ? '' : ` in ${clusters.join(', ')}`;
  const refused = keys.filter((key) => settledState(found, key, clusters ?? null) === 'refused');
  const [first] = refused;
  if (first !== undefined && (!any || refused.length === keys.length)) {
    const refusal = found.find(({ key, refusal }) => key === first && refusal !== null)?.refusal ?? '';
    return new PortolanError(
      'RESOURCE_REFUSED',
      `The API server refuses ${first} to Portolan${where}: ${refusal.replace(/\.$/, '')}. Grant Portolan list and watch on ${first}.`,
      { details: { resources: [first] } },
    );
  }
  return new NotReadyError(
    { keys, clusters: clusters ?? null, any, related: false },
    `${keys.join(', ')} ${keys.length === 1 ? 'has' : 'have'} not been synced yet${where}; try again in a moment.`,
  );
}
