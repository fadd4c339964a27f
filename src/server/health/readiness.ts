/**
 * What /readyz answers: how far ingest is, with the phase of everything that fails.
 *
 * The failures come from ingest's progress, their phases from the store. A probe is answered although the store is busy or not there:
 * then the phases are null.
 */

import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Reader } from '../../store/types/lease.ts';
import type { IngestStatus } from '../../store/types/progress.ts';
import type { DiskUse } from '../../store/types/writer.ts';

/** What /readyz answers. */
export interface Readiness {
  readonly ready: boolean;
  readonly [detail: string]: unknown;
}

/** As far as the server has to know what ingest reports. */
export interface Progress {
  readonly ready: boolean;
  readonly failing: readonly Failing[];
  /** Room on the disk, where the store is open. */
  readonly disk?: DiskUse | null;
  readonly [detail: string]: unknown;
}

export interface Failing {
  readonly cluster: string;
  /** resourceKey; `everything` where the cluster itself cannot be read. */
  readonly resource: string;
  readonly error: string;
  /** Those that fail, where it is ingested by namespaces. */
  readonly namespaces?: readonly string[];
}

/** Milliseconds that a probe waits for the store. */
const patience = 300;

/** The progress, each failing resource with its phase; null for what the store does not know. Never rejects. */
export async function readinessOf(progress: Progress, reader: Reader): Promise<Readiness> {
  if (progress.failing.length === 0) return progress;
  const phases = await phasesIn(reader).catch(() => new Map<string, IngestStatus['phase']>());
  const failing = progress.failing.map(({ cluster, resource, error, namespaces }) => ({
    cluster,
    resource,
    ...(namespaces === undefined ? {} : { namespaces }),
    phase: phases.get(`${cluster} ${resource}`) ?? null,
    error,
  }));
  return { ...progress, failing };
}

async function phasesIn(reader: Reader): Promise<ReadonlyMap<string, IngestStatus['phase']>> {
  const found = await reader.lease(readResourceProgress, {
    signal: AbortSignal.timeout(patience),
    timeoutMs: patience,
  });
  return new Map(found.map(({ cluster, key, status }) => [`${cluster} ${key}`, status.phase]));
}
