/** Objects and watch events as they come from an API server. */

/** One object as it comes from the API server. */
export interface IncomingObject {
  /**
   * The object's JSON text exactly as received, with int64 and escapes intact. It may contain metadata.managedFields.
   * Items of a list may lack apiVersion and kind.
   */
  readonly text: string;
  /** The bytes that `text` was decoded from, if the caller has them. They may be invalid UTF-8. */
  readonly bytes?: Uint8Array;
  /** The JSON text of metadata.managedFields, if it was cut out of `text`. */
  readonly managedFields?: string;
  /** The parsed object, if the caller has it. Its unsafe integers may be rounded. */
  readonly value?: unknown;
  /** Synthetic identity of an object that has no uid and resourceVersion of its own. */
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface IncomingEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: IncomingObject;
}

/** An item of a metadata-only list. */
export interface ListedObject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}
