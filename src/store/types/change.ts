/** An entry of the change log. */

/** One entry of the change log. Bodies are JSON texts, null where there is none. */
export interface LoggedChange {
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
  readonly before: string | null;
  readonly after: string | null;
}
