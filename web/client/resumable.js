/**
 * Options of a graphql-ws client that keep live pages and subscriptions through a restart of the gateway. By default the client gives up
 * when a new connection is refused, and its waits have no end. These waits are random, so that not all clients come back at once.
 *
 *     createClient({ url, ...reconnect });
 */
export const reconnect = {
  retryAttempts: Number.POSITIVE_INFINITY,
  shouldRetry: () => true,
  /** At most ten seconds. @param {number} retries attempts so far */
  retryWait(retries) {
    const most = Math.min(10_000, 250 * 2 ** Math.min(retries, 10));
    return /** @type {Promise<void>} */ (
      new Promise((resolve) => setTimeout(resolve, most * (0.5 + Math.random() / 2)))
    );
  },
};

/**
 * The part of a graphql-ws client that is used here. Its members are declared as methods, so that the client of every version fits.
 * @typedef {object} Sink
 * @property {(result: { data?: unknown }) => void} next
 * @property {(error: unknown) => void} error
 * @property {() => void} complete
 */

/**
 * Makes a graphql-ws client resume its subscriptions. After a reconnect, the client alone would send a subscription's first
 * variables again. This one sends the cursor of the last message as `since`, if the subscription declares `$since: String` and
 * passes it on. During a snapshot it has no cursor, so it requests the snapshot again; that one begins with `reset`.
 *
 *     const client = resumable(createClient({ url, ...reconnect }));
 *
 * @template {{ subscribe(payload: any, sink: any): () => void }} C
 * @param {C} client
 * @returns {C}
 */
export function resumable(client) {
  const subscribe = (
    /** @type {{ variables?: Record<string, unknown> | null }} */ payload,
    /** @type {Sink} */ sink,
  ) => {
    // The client keeps this object. After a reconnect, it sends the object with the current values.
    const request = { ...payload };
    return client.subscribe(request, {
      error: (/** @type {unknown} */ error) => sink.error(error),
      complete: () => sink.complete(),
      next(/** @type {{ data?: unknown }} */ result) {
        for (const message of Object.values(result.data ?? {})) {
          if (message === null || typeof message !== 'object' || typeof message.cursor !== 'string') continue;
          if (message.phase === 'SYNCED' || message.phase === 'LIVE') {
            request.variables = { ...payload.variables, since: message.cursor };
          } else {
            request.variables = { ...payload.variables, since: null };
          }
        }
        sink.next(result);
      },
    });
  };
  return Object.assign(Object.create(client), { subscribe });
}
