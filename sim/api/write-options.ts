/** What a caller of a write may ask for. */
export interface WriteOptions {
  /** The manager recorded in managedFields. */
  readonly fieldManager?: string;
  readonly dryRun?: boolean;
  readonly subresource?: '' | 'status' | 'scale';
  /** Called with the paths of unknown fields before they are dropped; may throw to reject the write. */
  readonly onUnknownFields?: (paths: readonly string[]) => void;
  /** For internal writers: status may be written with the rest, and nothing is validated or pruned. */
  readonly trusted?: boolean;
}

export interface PatchOptions extends WriteOptions {
  /** Whether an apply takes fields that other managers own. */
  readonly force?: boolean;
}

export type PatchKind = 'json' | 'merge' | 'strategic' | 'apply';

/** How the new object came about: it decides how a server refuses an object that it cannot read. */
export type WriteForm = 'object' | 'patch' | 'apply';

export interface DeleteRequest {
  readonly propagationPolicy?: string;
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: boolean;
}
