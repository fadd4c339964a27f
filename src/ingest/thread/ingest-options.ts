/** Options of ingest. Plain data, so they can cross to its thread. */
import type { LogLevel } from '../../base/log.ts';
import type { ClusterOptions } from '../../kube/client/connection.ts';
import type { SealMemory } from '../../store/file/file-seal.ts';
import type { SupervisorSettings } from '../cluster/supervisor-settings.ts';
import type { AbstractKindsDocument } from '../context/declared-abstract-kinds.ts';
import type { HealthDocument } from '../context/declared-health-rules.ts';
import type { RelationTexts } from '../context/declared-relations.ts';
import type { ReflectorSettings } from '../context/reflector-context.ts';
import type { Selection } from '../context/selection.ts';

/** See the options of the writer. */
interface StoreSettings {
  readonly cacheKib?: number;
  readonly changeLog?: { readonly maxBytes?: number; readonly maxAgeMs?: number };
  readonly walGateBytes?: number;
  readonly ownProcessOnly?: boolean;
}

export interface IngestOptions extends Selection {
  /** Path of the store's file; created if missing. */
  readonly file: string;
  readonly clusters: readonly ClusterOptions[];
  /** Other threads have the other clusters of the gateway. So nothing is said of what no cluster here serves. Default: false. */
  readonly isPartial?: boolean;
  /** More clusters are registered after the start: ingest is not ready before it knows them. */
  readonly awaitsRegistration?: boolean;
  /** Namespaced resources are read in these alone; empty or absent: in all at once. */
  readonly namespaces?: readonly string[];
  /** Retention of Events; absent: all are kept. */
  readonly events?: { readonly maxObjects: number; readonly maxAgeMs: number };
  /** Milliseconds between two checks of that retention; default 10,000. */
  readonly retainEveryMs?: number;
  /** Maximum bytes of all files of the store together; default unlimited. */
  readonly maxDiskBytes?: number;
  /** Memory shared with the readers of the file (src/store/file/file-seal.ts). */
  readonly seal?: SealMemory;
  /** Default: those of the writer. */
  readonly store?: StoreSettings;
  /** Paths that `search` covers besides names, labels and images. */
  readonly searchPaths?: readonly string[];
  /** `resource=path`: paths that have an indexed column from the start. */
  readonly promote?: readonly string[];
  /** `resource=path`: paths whose values are never stored. */
  readonly redact?: readonly string[];
  /** The declared health rules, in the order in which they are tried; absent: none. */
  readonly healthRules?: readonly HealthDocument[];
  /** The abstract kinds; absent: none. */
  readonly abstractKinds?: AbstractKindsDocument;
  /** Are there callers who may not see all objects? Default: true. */
  readonly restrictedCallers?: boolean;
  /** Names of clusters whose AbstractKind objects declare abstract kinds, with `*` for any text; absent: none. */
  readonly abstractKindObjects?: readonly string[];
  /** The declared relations; absent: none. */
  readonly relations?: RelationTexts;
  /** Parses large lists in a separate thread; default: with more than one processor. */
  readonly parseThread?: boolean;
  /** Default: warn. */
  readonly logLevel?: LogLevel;
  readonly supervisor?: Partial<SupervisorSettings>;
  readonly reflector?: Partial<ReflectorSettings>;
}
