/** Objects and watch events as they come from an API server. */

/** One object as it comes from the API server. */
export interface IncomingObject {
  /**
   * The object's JSON text exactly as received (int64 and escapes intact), metadata.managedFields there or not. apiVersion and kind
   * may be missing in lists.
   */
  readonly text: string;
  /** What the text was made of, if the caller has it anyway. It may be no UTF-8. */
  readonly bytes?: Uint8Array;
  /** The parsed object, if the caller has it anyway. Unsafe integers in it may be rounded. */
  readonly value?: unknown;
  /** For an object that has none of its own: what it is known and compared by. */
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface IncomingEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: IncomingObject;
}

/** An object as a list of metadata tells of it. */
export interface ListedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}
