/** Messages between the serve thread and the introspection thread. */

/** How the bytes of an answer are written: names of HTTP's content codings. */
export type Encoding = 'br' | 'zstd' | 'gzip' | 'identity';

/** A request for an answer, as text and plain data. */
export interface Question {
  /** Valid on the generation's schema. Null asks for the schema as SDL. */
  readonly document: string | null;
  /** The keys of the only kinds that the schema has then; null: all. */
  readonly kinds: readonly string[] | null;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /**
   * The answer's `extensions` as JSON text. Null if the question is for the document's introspection alone, as a result with its errors.
   */
  readonly extensions: string | null;
  readonly encoding: Encoding;
}

/** An answer that was made. */
export interface Made {
  /** Encoded. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes before the encoding. */
  readonly length: number;
}

export type IntrospectionRequest =
  /** New kinds for the next generation, each a CatalogKind as JSON text. */
  | { readonly op: 'kinds'; readonly texts: readonly string[] }
  /** The generation of these kinds, by their keys, in order. All of them have been sent. Other kinds are dropped. */
  | { readonly op: 'generation'; readonly keys: readonly string[]; readonly typePrefix: string }
  /** A question about the generation that was sent last. */
  | { readonly op: 'question'; readonly call: number; readonly question: Question };

export type IntrospectionReply =
  /** Null for a whole answer whose execution has errors. */
  { readonly call: number; readonly answer: Made | null } | { readonly call: number; readonly failed: string };
