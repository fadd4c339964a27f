/** A change of a subscription, from `changes { type id object { … } }`. */
export interface Change<T> {
  /** ADDED, MODIFIED or REMOVED. */
  readonly type: string;
  readonly id: string;
  /** Null when REMOVED. */
  readonly object?: T | null;
  /** Why REMOVED: DELETED, NO_LONGER_MATCHES or NO_LONGER_VISIBLE. */
  readonly reason?: string | null;
}

/** A message of a subscription: the value of its root field, such as `podChanges`. */
export interface Message<T> {
  /** SNAPSHOT, SYNCED, LIVE or GAP. */
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly removedIds?: readonly string[];
  readonly changes: readonly Change<T>[];
}

/** A client's copy of a live list. */
export interface Held<T> {
  /** In order of arrival; a changed object keeps its position. */
  readonly byId: ReadonlyMap<string, T>;
  /** The values of `byId` as a list. */
  readonly objects: readonly T[];
  /** The `since` to resume with; null until the copy is complete. */
  readonly cursor: string | null;
  /** False until the first SYNCED, and again from a GAP or a new snapshot until the next SYNCED. */
  readonly whole: boolean;
}

/**
 * An empty copy, or a copy of a list that was read: `hold(list.nodes, list.changesCursor)`. Its `cursor` is the `since` to start with.
 */
export declare function hold<T extends { readonly id: string }>(
  objects?: readonly T[],
  cursor?: string | null,
): Held<T>;

/** Returns the copy after one message. `held` itself is not changed. */
export declare function foldChanges<T>(held: Held<T>, message: Message<T>): Held<T>;

/**
 * Options of a graphql-ws client that keep live pages and subscriptions through a restart of the gateway: `createClient({ url, ...reconnect })`.
 */
export declare const reconnect: {
  readonly retryAttempts: number;
  shouldRetry(): boolean;
  /** At most ten seconds. */
  retryWait(retries: number): Promise<void>;
};

/**
 * Makes a graphql-ws client resume its subscriptions after a reconnect, if they declare `$since: String` and pass it on:
 * `resumable(createClient({ url, ...reconnect }))`.
 */
// biome-ignore lint/suspicious/noExplicitAny: the client of every version fits
export declare function resumable<C extends { subscribe(payload: any, sink: any): () => void }>(client: C): C;
