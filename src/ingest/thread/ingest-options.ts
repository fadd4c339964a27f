/** What ingest is started with; plain data, so that it can cross to its thread. */
import type { LogLevel } from '../../base/log.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import type { SupervisorSettings } from '../cluster/supervisor-settings.ts';
import type { ReflectorSettings } from '../context/reflector-context.ts';
import type { Selection } from '../context/selection.ts';

export interface IngestOptions extends Selection {
  /** The store's file; made when it is not there. */
  readonly file: string;
  readonly clusters: readonly ClusterOptions[];
  /** Namespaced resources are read in these alone; empty or absent: in all at once. */
  readonly namespaces?: readonly string[];
  /** What is kept of Events; everything without it. */
  readonly events?: { readonly maxObjects: number; readonly maxAgeMs: number };
  /** Milliseconds between two looks at that bound; default 10,000. */
  readonly retainEveryMs?: number;
  /** Bytes that all files of the store together may take; default no bound. */
  readonly maxDiskBytes?: number;
  /** Paths that `search` looks at beside names, labels and images. */
  readonly searchPaths?: readonly string[];
  /** `resource=path`: paths that have an indexed column from the start. */
  readonly promote?: readonly string[];
  /** Parses large lists in a thread of its own; default: where there is more than one processor. */
  readonly parseThread?: boolean;
  /** Default: warn. */
  readonly logLevel?: LogLevel;
  readonly supervisor?: Partial<SupervisorSettings>;
  readonly reflector?: Partial<ReflectorSettings>;
}
