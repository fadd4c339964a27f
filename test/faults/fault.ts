/** A test, named as in its file (with the placeholders of a table of cases). */
export interface TestedBy {
  readonly file: string;
  readonly name: string;
}

export interface Fault {
  /** 1 for F1. */
  readonly number: number;
  readonly title: string;
  readonly holds: string;
  readonly tests: readonly TestedBy[];
  /** Why it is not tested, or not as a whole. */
  readonly note?: string;
}
