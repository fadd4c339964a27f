/**
 * The answer of /readyz: ingest's progress, with the phase of each failing resource.
 *
 * Failures come from ingest's progress, and their phases from the store. A probe is answered even when the store is busy or missing;
 * the phases are null then.
 *
 *   progress  { ready: false, failing: [{ cluster: "east", resource: "pods", error: "forbidden" }] }
 *   answer    { ready: false, status: "starting", failing: [{ cluster: "east", resource: "pods", phase: "PARKED", error: "forbidden" }] }
 */

import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { Reader } from '../../store/types/lease.ts';
import type { IngestStatus } from '../../store/types/progress.ts';
import type { StoreTrouble } from '../../store/types/store-fault.ts';
import type { DiskUse } from '../../store/types/writer.ts';

/** The body of /readyz. */
export interface Readiness {
  readonly ready: boolean;
  /** `starting`: not ready yet. `degraded`: ready, but something is failing. `draining`: it ends soon. */
  readonly status?: 'starting' | 'ready' | 'degraded' | 'draining';
  readonly [detail: string]: unknown;
}

/** The part of ingest's progress that the server reads. */
export interface Progress {
  readonly ready: boolean;
  readonly failing: readonly Failing[];
  /** The fault of the store that lasts; absent or null while there is none. */
  readonly fault?: StoreTrouble | null;
  /** How often the store was made anew since the process started. */
  readonly rebuilds?: number;
  /** Use of the disk; absent or null before the store is open. */
  readonly disk?: DiskUse | null;
  readonly [detail: string]: unknown;
}

export interface Failing {
  readonly cluster: string;
  /** resourceKey; `everything` when the cluster itself cannot be read. */
  readonly resource: string;
  readonly error: string;
  /** The HTTP status by which the API server refuses the resource; absent for other failures. */
  readonly refusal?: number;
  /** The failing namespaces, for a resource that is ingested by namespace. */
  readonly namespaces?: readonly string[];
}

/** Milliseconds that a probe waits for the store. */
const patience = 300;

/** The progress with a phase for each failing resource; null where the store has none. Never rejects. */
export async function readinessOf(progress: Progress, reader: Reader): Promise<Readiness> {
  const fails = progress.failing.length > 0 || (progress.fault ?? null) !== null;
  const status = !progress.ready ? 'starting' : fails ? 'degraded' : 'ready';
  if (progress.failing.length === 0) return { ...progress, status };
  const phases = await phasesIn(reader).catch(() => new Map<string, IngestStatus['phase']>());
  const failing = progress.failing.map(({ error, ...failure }) => ({
    ...failure,
    phase: phases.get(`${failure.cluster} ${failure.resource}`) ?? null,
    error,
  }));
  return { ...progress, status, failing };
}

async function phasesIn(reader: Reader): Promise<ReadonlyMap<string, IngestStatus['phase']>> {
  const found = await reader.lease(readResourceProgress, {
    signal: AbortSignal.timeout(patience),
    timeoutMs: patience,
  });
  return new Map(found.map(({ cluster, key, status }) => [`${cluster} ${key}`, status.phase]));
}
