/**
 * The answer of /readyz: ingest's progress, and what it means. It comes from ingest's messages alone. So a probe is answered at once. It is
 * true even if the store is busy, is missing, or cannot be written.
 */
import type { AuditFacts } from '../../admission/audit.ts';
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
  /** The phase of its reflectors; absent for what has none. */
  readonly phase?: IngestStatus['phase'];
  readonly error: string;
  /** The HTTP status by which the API server refuses the resource; absent for other failures. */
  readonly refusal?: number;
  /** The failing namespaces, for a resource that is ingested by namespace. */
  readonly namespaces?: readonly string[];
}

/** The progress with its status, and a phase for each failing resource; null where it has none. */
export function readinessOf(progress: Progress): Readiness {
  const fails = progress.failing.length > 0 || (progress.fault ?? null) !== null;
  const status = !progress.ready ? 'starting' : fails ? 'degraded' : 'ready';
  const failing = progress.failing.map(({ phase = null, error, ...failure }) => ({ ...failure, phase, error }));
  return { ...progress, status, failing };
}

/** The readiness of a gateway with an audit log. @param isRequired not ready while it cannot be written */
export function withAudit(found: Readiness, { isWritable, missing }: AuditFacts, isRequired: boolean): Readiness {
  const audit = { writable: isWritable, missingLines: missing };
  if (isWritable) return { ...found, audit };
  const status = found.ready ? 'degraded' : (found.status ?? 'starting');
  return { ...found, ready: found.ready && !isRequired, status, audit };
}

/** The serve processes of a gateway. */
export interface ProcessesState {
  readonly wanted: number;
  readonly serving: number;
  /** How often one was started again. */
  readonly restarts: number;
  /** Processes that have ended and do not serve yet, or give no sign of life, with the reason. */
  readonly ended: readonly { readonly process: number; readonly restarts: number; readonly error: string }[];
}

/** The readiness of a gateway with several serve processes. It stays ready while some of them serve. */
export function withProcesses(found: Readiness, processes: ProcessesState): Readiness {
  const isWhole = processes.serving === processes.wanted && processes.ended.length === 0;
  return { ...found, ...(isWhole || !found.ready ? {} : { status: 'degraded' }), processes };
}
