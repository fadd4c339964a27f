/**
 * How far ingest is. Ready means: every started resource has synced or is reported as failing, and there is something started:
 * at least one cluster was reached, or the store remembers one.
 */
import type { DiskUse } from '../../store/types/writer.ts';

/** Finer than this, progress would be told at every commit. */
const mebibyte = 2 ** 20;

export interface FailingResource {
  readonly cluster: string;
  /** resourceKey; `everything` when the cluster itself cannot be reached or read. */
  readonly resource: string;
  readonly error: string;
  /** Where it is ingested by namespaces: those that fail. */
  readonly namespaces?: readonly string[];
}

export interface ClusterProgress {
  readonly cluster: string;
  /** Its resources are known, from discovery or, once it has said who it is, from the store. */
  readonly known: boolean;
  /** The store holds what is selected of it, and nothing else of it: that can be read before it is reached. */
  readonly remembered: boolean;
  /** The first attempt to know them is over, however it went. */
  readonly tried: boolean;
  /** Started resources that have synced, or are failing. */
  readonly resourcesDone: number;
  readonly resourcesTotal: number;
  readonly objects: number;
  readonly failing: readonly FailingResource[];
}

/** Plain data; a type alias, so that it can be handed on as a record. */
export type IngestProgress = {
  readonly ready: boolean;
  /** What there is of a catalog can be read: every cluster is remembered or known, or has been tried. */
  readonly catalogKnown: boolean;
  readonly resourcesDone: number;
  readonly resourcesTotal: number;
  readonly objects: number;
  readonly failing: readonly FailingResource[];
  readonly clusters: readonly ClusterProgress[];
  /** Room on the disk, in steps of a MiB; null before the store is open. */
  readonly disk: DiskUse | null;
};

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
    resourcesTotal,
    objects: sum((cluster) => cluster.objects),
    failing: clusters.flatMap(({ failing }) => failing),
    clusters,
    disk: disk === null ? null : { ...disk, usedBytes: Math.ceil(disk.usedBytes / mebibyte) * mebibyte },
  };
}
