/** The start data of the thread of a long text, and its one answer. */
import type { ErrorCode } from '../../base/errors.ts';

/** A text, and its place in the request: `docs[0]`. */
interface PlacedText {
  readonly place: string;
  readonly text: string;
}

/** The texts, as the thread's `workerData`. */
export type ManifestTask = readonly PlacedText[];

export type ManifestReply =
  /** For each text, the JSON of its manifests (read-manifests.ts): raw JSON values do not survive postMessage. */
  | { readonly manifests: readonly (readonly string[])[] }
  | {
      readonly refused: {
        readonly code: ErrorCode;
        readonly message: string;
        readonly details: Readonly<Record<string, unknown>>;
      };
    };
