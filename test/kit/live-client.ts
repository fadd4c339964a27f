/** A client of a live list: folds the messages as the protocol defines, and throws for a message that breaks the protocol. */

import type { LiveMessage } from '../../src/live/list/live-request.ts';
import type { LiveChange } from '../../src/live/log/live-change.ts';
import { decodeLiveCursor, nowhere } from '../../src/live/log/live-cursor.ts';

export class LiveClient {
  /** Bodies as JSON text by cluster, namespace and name. */
  readonly held = new Map<string, string>();
  readonly phases: string[] = [];
  /** The newest cursor at which `held` is complete; null before the first. */
  cursor: string | null = null;
  #whole = false;

  readonly #idOf: (identity: LiveChange['identity']) => string;

  /**
   * @param held the objects of an earlier read, with the cursor of that read.
   * @param idOf the id of an object in `held`; it has no kind by default.
   */
  constructor(
    held?: { readonly held: ReadonlyMap<string, string>; readonly cursor: string },
    idOf = ({ cluster, namespace, name }: LiveChange['identity']): string => `${cluster} ${namespace} ${name}`,
  ) {
    this.#idOf = idOf;
    if (held === undefined) return;
    for (const [key, body] of held.held) this.held.set(key, body);
    this.cursor = held.cursor;
    this.#whole = true;
  }

  /** Are the objects those of `cursor`? */
  get isWhole(): boolean {
    return this.#whole;
  }

  get sequence(): number | null {
    return this.cursor === null ? null : decodeLiveCursor(this.cursor).sequence;
  }

  take(message: LiveMessage): void {
    const { phase, reset, changes } = message;
    this.phases.push(phase);
    if (reset) this.held.clear();
    const seen = new Set<string>();
    for (const change of changes) {
      const id = this.#idOf(change.identity);
      if (seen.has(id)) throw new Error(`${id} is twice in one message`);
      seen.add(id);
      const had = this.held.has(id);
      if (had !== (change.type !== 'ADDED'))
        throw new Error(`${change.type} of ${id}, which is ${had ? 'held' : 'not held'}`);
      if (change.type === 'REMOVED') {
        if (change.object !== null || change.reason === null) throw new Error('REMOVED has a reason and no object');
        this.held.delete(id);
      } else {
        if (change.object === null) throw new Error(`${change.type} without an object`);
        this.held.set(id, JSON.stringify(change.object.body));
      }
    }
    const { sequence } = decodeLiveCursor(message.cursor);
    const holds = phase === 'SYNCED' || phase === 'LIVE';
    if (holds !== (sequence !== nowhere)) throw new Error(`${phase} with the cursor ${sequence}`);
    if (phase === 'LIVE' && (!this.#whole || changes.length === 0)) throw new Error('LIVE before SYNCED, or empty');
    if (holds && message.totalCount !== null && message.totalCount !== this.held.size) {
      throw new Error(`totalCount is ${message.totalCount}, held are ${this.held.size}`);
    }
    this.#whole = holds;
    if (holds) this.cursor = message.cursor;
  }
}
