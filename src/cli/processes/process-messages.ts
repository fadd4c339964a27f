/**
 * The messages between the ingest process and a serve process, over the IPC channel of Node.
 *
 *   serve process: hello -> (start) -> listening -> alive, promote, damaged, audit, measure, … -> (the process ends after `close`)
 *                  failed: it cannot start
 *   ingest process: start -> wake, progress, catalog, facts, register -> drain, close
 *
 * No message has an object of a cluster: serve processes read objects from the database file. Messages are structured clones.
 */
import { join } from 'node:path';
import type { UserInfo } from '../../access/caller.ts';
import type { AuditFacts } from '../../admission/audit.ts';
import type { ErrorCode } from '../../base/errors.ts';
import type { ConfigFacts } from '../../config/live-config.ts';
import type { Config } from '../../config/options.ts';
import type { IngestProgress } from '../../ingest/context/progress.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import type { RegisteredCluster } from '../../kube/discovery/cluster-secret.ts';
import type { ProcessesState } from '../../server/health/readiness.ts';
import type { ProcessMetrics } from '../../server/health/summed-metrics.ts';
import type { CommittedChanges } from '../../store/types/change.ts';
import type { PathUse } from '../../store/types/kind-layout.ts';
import type { FileDamage } from '../../store/types/store-fault.ts';
import type { ServingConfig } from '../serving/serving.ts';

/** The options of a serve process. */
export type ProcessConfig = ServingConfig & Pick<Config, 'processes' | 'readers' | 'leaseMs' | 'logLevel'>;

/** Facts that change while the processes run. It is sent when a part of it has changed. */
export interface ProcessFacts {
  /** All options, the `live` ones with their newest values. */
  readonly config: ProcessConfig;
  /** The state of the configuration file. */
  readonly file: ConfigFacts;
  readonly refusedSecrets: number;
  /** Null without an audit log. */
  readonly audit: AuditFacts | null;
  readonly processes: ProcessesState;
}

/** The copy of the ingest process's seal, in the folder of the processes. */
export function sealFile(folder: string): string {
  return join(folder, 'seal');
}

/** Why objects may not be written now: the parts of a PortolanError with the code TOO_MANY_REQUESTS. */
export interface WriteRefusal {
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface ProcessStart {
  /** Of the process among its siblings, from 1. */
  readonly number: number;
  readonly facts: ProcessFacts;
  readonly clusters: readonly ClusterOptions[];
  readonly file: string;
  /** The folder with the sockets by which the processes pass requests to each other, and the copy of the seal. */
  readonly folder: string;
  readonly port: number;
  readonly aggregatePort: number;
  /** Without authentication, what writes need; see StartToken. */
  readonly startToken: string;
  readonly planKey: Uint8Array;
  readonly progress: IngestProgress;
  /** Null where no Secrets register clusters, or before they are known. */
  readonly registered: readonly RegisteredCluster[] | null;
}

export type ToProcess =
  | { readonly type: 'start'; readonly start: ProcessStart }
  | { readonly type: 'wake'; readonly committed: CommittedChanges }
  | { readonly type: 'progress'; readonly progress: IngestProgress }
  | { readonly type: 'catalog' }
  | { readonly type: 'facts'; readonly facts: ProcessFacts }
  | { readonly type: 'register'; readonly round: number; readonly clusters: readonly RegisteredCluster[] }
  /** Null: the line is in the audit log. */
  | { readonly type: 'noted'; readonly id: number; readonly error: string | null }
  /** Null: the writes are counted. */
  | { readonly type: 'charged'; readonly id: number; readonly refusal: WriteRefusal | null }
  /** Requests the metrics of the process. */
  | { readonly type: 'measure'; readonly id: number }
  /** The metrics of the others. */
  | { readonly type: 'measured'; readonly id: number; readonly others: readonly ProcessMetrics[] }
  | { readonly type: 'drain'; readonly ms: number }
  /** The drain ends at once. */
  | { readonly type: 'close' };

export type FromProcess =
  | { readonly type: 'hello' }
  | {
      readonly type: 'listening';
      readonly url: string;
      readonly page: string;
      readonly aggregatePort: number | null;
    }
  | { readonly type: 'failed'; readonly code: ErrorCode; readonly error: string }
  | { readonly type: 'alive' }
  | { readonly type: 'promote'; readonly use: PathUse }
  | ({ readonly type: 'damaged' } & FileDamage)
  | { readonly type: 'registered'; readonly round: number }
  /** A line of the audit log. With an id, somebody waits for `noted`. */
  | { readonly type: 'audit'; readonly text: string; readonly id: number | null }
  /** Counts objects that this caller writes, against what the caller may write at all processes together. */
  | { readonly type: 'charge'; readonly id: number; readonly user: UserInfo; readonly writes: number }
  /** Lines of the audit log that could not be sent. */
  | { readonly type: 'missed'; readonly lines: number }
  /** Asks for the metrics of the others. `own` are those of this process. */
  | { readonly type: 'measure'; readonly id: number; readonly own: ProcessMetrics }
  | { readonly type: 'measured'; readonly id: number; readonly metrics: ProcessMetrics };
