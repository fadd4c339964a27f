/**
 * The part of a graphql-ws client that is used here. Both are written as methods, so that every version's client fits.
 * @typedef {object} Sink
 * @property {(result: { data?: unknown }) => void} next
 * @property {(error: unknown) => void} error
 * @property {() => void} complete
 */

/**
 * Makes a graphql-ws client go on where it stood. By itself it sends a subscription's first variables again after a reconnect; this
 * one sends the cursor of the last message as `since`, if the subscription declares `$since: String` and passes it on. While a
 * snapshot is under way there is no such place, and the snapshot is asked for anew; it begins with `reset`.
 *
 *     const client = resumable(createClient({ url, retryAttempts: Infinity }));
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
    // The client keeps this object and sends it again as it is then.
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
