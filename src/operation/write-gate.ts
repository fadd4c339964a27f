/**
 * The bounds that all mutations of a gateway share, so that no caller and no cluster takes everything.
 *
 *   requests   at most 64 in flight to one cluster; callers who wait take turns. A cluster that hangs holds its own places only
 *   answers    at most 256 MiB of objects that mutations hold, and 32 MiB of one mutation
 */
import { type Leave, Semaphore } from '../base/concurrency/semaphore.ts';
import { PortolanError } from '../base/errors.ts';

/** Requests of mutations in flight to one cluster. */
const mostRequests = 64;
/** Bytes as the API servers sent them; a parsed object takes a few times as much. */
const mostHeld = { all: 256 * 1024 * 1024, one: 32 * 1024 * 1024 };

export class WriteGate {
  readonly #places = new Map<string, Semaphore>();
  #held = 0;

  /** Resolves when a request may be sent. @param cluster a known one @param client the caller's name */
  enter(cluster: string, client: string, signal: AbortSignal | undefined): Promise<Leave> {
    const places = this.#places.get(cluster) ?? new Semaphore(mostRequests);
    this.#places.set(cluster, places);
    return places.enter(signal, client);
  }

  /** The bytes that one mutation holds. The caller of this method must end it. */
  held(): HeldBytes {
    return new HeldBytes((bytes) => {
      this.#held += bytes;
      return this.#held <= mostHeld.all;
    });
  }
}

class HeldBytes {
  readonly #count: (bytes: number) => boolean;
  #own = 0;

  constructor(count: (bytes: number) => boolean) {
    this.#count = count;
  }

  /** @throws PortolanError QUERY_TOO_COSTLY beyond what one mutation may hold, TOO_MANY_REQUESTS beyond that of all. */
  add(bytes: number): void {
    this.#own += bytes;
    const isFree = this.#count(bytes);
    if (this.#own > mostHeld.one) {
      throw new PortolanError('QUERY_TOO_COSTLY', 'The objects of the mutation are too large together: send several.');
    }
    if (!isFree) {
      throw new PortolanError(
        'TOO_MANY_REQUESTS',
        'The mutations of all callers hold too many objects: send it again.',
      );
    }
  }

  end(): void {
    this.#count(-this.#own);
    this.#own = 0;
  }
}
