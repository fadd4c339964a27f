/** An entry of the change log, and a summary of the entries that commits added. */

/** One entry of the change log. Bodies are JSON texts, null where there is none. */
export interface LoggedChange extends LoggedEntry {
  readonly before: string | null;
  readonly after: string | null;
}

/** An entry of the change log without its bodies. */
export interface LoggedEntry {
  readonly seq: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'RESET';
  readonly kindId: number;
  readonly cluster: string;
  readonly objectId: number;
  readonly namespace: string | null;
  readonly name: string;
  readonly uid: string | null;
  readonly resourceVersion: string;
  /** Milliseconds since the epoch when it was committed. */
  readonly at: number;
}

/** The entries that one commit, or several commits in a row, added to the change log. */
export interface CommittedChanges {
  /** Random id of this store file. */
  readonly epoch: string;
  /** Each entry has a sequence number greater than `after` and at most `revision`. */
  readonly after: number;
  readonly revision: number;
  /** The kinds of these entries, each once. A kind that is missing here has no entry among them. */
  readonly kindIds: readonly number[];
}

/** The entries of two stretches of the log; `second` follows `first` and is of the same epoch. */
export function joinCommits(first: CommittedChanges, second: CommittedChanges): CommittedChanges {
  const { epoch, revision } = second;
  return { epoch, after: first.after, revision, kindIds: [...new Set([...first.kindIds, ...second.kindIds])] };
}
