/**
 * Progress of ingest. It is ready once three conditions hold. Every cluster is known or has been tried. At least one cluster is known.
 * Every started resource has synced or is failing. It stays ready when more resources are started later.
 */
import type { IngestStatus, ResourceState } from '../../store/types/progress.ts';
import type { StoreTrouble } from '../../store/types/store-fault.ts';
import type { DiskUse } from '../../store/types/writer.ts';
import type { UnmatchedName } from './selection.ts';

/** Finer steps would cause a progress message at every commit. */
const mebibyte = 2 ** 20;

export interface FailingResource {
  readonly cluster: string;
  /** resourceKey; `everything` when the cluster itself cannot be reached or read. */
  readonly resource: string;
  /** The phase of its reflectors; absent for what has none. */
  readonly phase?: IngestStatus['phase'];
  readonly error: string;
  /** The HTTP status by which the API server refuses the resource: 403, 404 or 405. Absent for other failures. */
  readonly refusal?: number;
  /** The failing namespaces, if the resource is ingested by namespaces. */
  readonly namespaces?: readonly string[];
}

/** Plain data; a type alias, so that it is assignable to a record. */
type StaleResource = {
  readonly cluster: string;
  /** resourceKey */
  readonly key: string;
  /** Milliseconds since the epoch: the rows are those of this time, or newer. */
  readonly since: number;
  readonly phase: IngestStatus['phase'];
  readonly error: string | null;
};

export interface ClusterProgress {
  readonly cluster: string;
  /** The resources are known: from discovery, or from the store once the cluster's uid is known. */
  readonly known: boolean;
  /** The store holds exactly the selected resources of the cluster, so they can be read before the cluster responds. */
  readonly remembered: boolean;
  /** Discovery was tried: the first attempt is over, with or without success, or the start waits no longer for it. */
  readonly tried: boolean;
  /** Started resources that have synced, or are failing. */
  readonly resourcesDone: number;
  /** Started resources that have synced and are not failing. */
  readonly resourcesSynced: number;
  readonly resourcesTotal: number;
  readonly objects: number;
  readonly failing: readonly FailingResource[];
  /** The resources whose rows are older than they may seem, because ingest cannot bring them up to date now. */
  readonly stale: readonly StaleResource[];
  /** The names of --kinds that the cluster does not serve; null before its first discovery. */
  readonly unmatched: UnmatchedNames | null;
}

export interface UnmatchedNames {
  readonly names: readonly UnmatchedName[];
  /** False if some API groups could not be read: the names may be those of their resources. */
  readonly certain: boolean;
}

/** Plain data. A type alias, because an interface is not assignable to a record. */
export type IngestProgress = {
  readonly ready: boolean;
  /** The catalog can be read: every cluster is remembered or known, or has been tried. */
  readonly catalogKnown: boolean;
  readonly resourcesDone: number;
  readonly resourcesSynced: number;
  readonly resourcesTotal: number;
  readonly objects: number;
  readonly failing: readonly FailingResource[];
  readonly clusters: readonly ClusterProgress[];
  /** The fault of the store that lasts; null while it can be read and written. */
  readonly fault: StoreTrouble | null;
  /** How often the store was made anew since the process started. */
  readonly rebuilds: number;
  /** False from the loss of the store until it is made anew. */
  readonly hasStore: boolean;
  /** Disk use of the store, rounded up to a MiB; null before the store is open. */
  readonly disk: DiskUse | null;
};

/**
 * The resources that are not brought up to date now: their reflectors wait after an error, or do not run. A watch that is opened again
 * without an error is no reason. While the cluster itself cannot be read, an open watch must have given a sign: its connection may be dead.
 * @param unreadSince since when the cluster cannot be read, in milliseconds since the epoch; null while it can
 */
export function staleIn(states: readonly ResourceState[], unreadSince: number | null): readonly StaleResource[] {
  const stale = new Map<string, StaleResource>();
  for (const { handle, status, synced } of states) {
    const { error, phase, staleSince, lastSignAt } = status;
    const waits = error !== null || phase === 'STOPPED';
    const isSilent = unreadSince !== null && lastSignAt !== null && lastSignAt < unreadSince;
    const since = staleSince ?? (isSilent ? lastSignAt : null);
    if (!synced || since === null || !(waits || isSilent)) continue;
    const { cluster, key } = handle;
    const known = stale.get(key);
    if (known === undefined || since < known.since) stale.set(key, { cluster, key, since, phase, error });
  }
  return [...stale.values()];
}

/** The sum over clusters. */
export function sumProgress(clusters: readonly ClusterProgress[], disk: DiskUse | null = null): IngestProgress {
  const sum = (of: (cluster: ClusterProgress) => number): number =>
    clusters.reduce((total, cluster) => total + of(cluster), 0);
  const catalogKnown = clusters.every(({ remembered, known, tried }) => remembered || known || tried);
  const reached = clusters.every(({ known, tried }) => known || tried);
  const resourcesDone = sum((cluster) => cluster.resourcesDone);
  const resourcesTotal = sum((cluster) => cluster.resourcesTotal);
  return {
    ready: reached && clusters.some(({ known }) => known) && resourcesDone === resourcesTotal,
    catalogKnown,
    resourcesDone,
    resourcesSynced: sum((cluster) => cluster.resourcesSynced),
    resourcesTotal,
    objects: sum((cluster) => cluster.objects),
    failing: clusters.flatMap(({ failing }) => failing),
    clusters,
    fault: null,
    rebuilds: 0,
    hasStore: true,
    disk: disk === null ? null : { ...disk, usedBytes: Math.ceil(disk.usedBytes / mebibyte) * mebibyte },
  };
}

/** The progress while there is no store: nothing of it can be answered. */
export function lostProgress(last: IngestProgress, fault: StoreTrouble): IngestProgress {
  const clusters = last.clusters.map((cluster) => ({
    ...cluster,
    resourcesDone: 0,
    resourcesSynced: 0,
    objects: 0,
    failing: [],
    stale: [],
  }));
  const { catalogKnown, disk } = last;
  return { ...last, ...sumProgress(clusters), ready: false, hasStore: false, catalogKnown, disk, fault };
}
