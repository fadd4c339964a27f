/**
 * One live list of a client: folds its messages with the fold of the client package, and checks that they keep the protocol.
 *
 * Keeps what the client held at each cursor. `history.ts` compares that with the store's own history.
 */
import { decodeLiveCursor, nowhere } from '../../../src/live/log/live-cursor.ts';
import { foldChanges, type Held, hold, type Message } from '../../../web/client/index.js';
import type { Asked, Result } from './live-channel.ts';
import { lineOf, type Selection, type Shown } from './watched-objects.ts';

export interface ListQuestion {
  readonly query: string;
  /** The filter as a GraphQL value, null for none. */
  readonly filter: object | null;
  readonly kinds: readonly string[];
  readonly selection: Selection;
  /** The same filter as a function of bodies. */
  matches(object: Shown): boolean;
}

/** What a client held at a cursor. */
export interface HeldView {
  readonly list: FollowedList;
  readonly epoch: string;
  readonly sequence: number;
  readonly byId: ReadonlyMap<string, Shown>;
}

type LiveMessage = Message<Shown> & { readonly totalCount: number | null };

/** Refusals that end when rights or the API server come back. */
const passing = new Set([
  'FORBIDDEN',
  'UPSTREAM_UNAVAILABLE',
  'UNAUTHENTICATED',
  'CACHE_NOT_READY',
  'TOO_MANY_REQUESTS',
  // Of a machine that is too busy. The client asks again from its cursor.
  'TIMEOUT',
]);

export class FollowedList {
  readonly user: string;
  readonly question: ListQuestion;
  readonly views: HeldView[] = [];
  /** The codes of errors since the last message. */
  refusal: string | null = null;
  messages = 0;
  gaps = 0;
  hidden = 0;
  #held: Held<Shown> = hold();
  #isAfterGap = false;
  readonly #last: string[] = [];
  #place: { readonly epoch: string; readonly sequence: number } | null = null;

  constructor(user: string, question: ListQuestion) {
    this.user = user;
    this.question = question;
  }

  get held(): Held<Shown> {
    return this.#held;
  }

  /** The objects, as lines. */
  get lines(): readonly string[] {
    return linesOf(this.#held.byId, this.question.selection);
  }

  asked(): Omit<Asked, 'id'> {
    const { query, filter } = this.question;
    return { query, variables: { filter, since: this.#held.cursor } };
  }

  /** A subscription begins, with `since` or anew. */
  begin(): void {
    this.#note('begin', this.#held.cursor === null ? 'anew' : 'since');
    this.#isAfterGap = false;
    this.#place = null;
  }

  /** Keeps what happened last, for the message of an error. */
  #note(...words: readonly string[]): void {
    this.#last.push(words.filter((word) => word !== '').join(' '));
    if (this.#last.length > 12) this.#last.shift();
  }

  /** @throws for a message that breaks the protocol. */
  take(result: Result): void {
    const codes = (result.errors ?? []).map(({ extensions }) => String(extensions?.code));
    if (!codes.every((code) => passing.has(code))) throw new Error(`refused: ${JSON.stringify(result)}`);
    const message = (result.data as { readonly changes: LiveMessage } | null | undefined)?.changes;
    // A message may have errors of single fields, such as of a relation to a kind that is not synced.
    if (message === undefined) {
      this.refusal = codes.join();
      this.#note('refused', this.refusal);
      // A client without rights must not show what it held.
      if (codes.includes('FORBIDDEN')) this.#held = hold();
      return;
    }
    this.refusal = null;
    this.#message(message);
  }

  #message(message: LiveMessage): void {
    this.messages += 1;
    this.#note(message.phase, message.reset ? 'reset' : '', String(message.changes.length));
    const before = this.#held;
    const { phase, reset, changes, cursor } = message;
    const fail = (what: string): never => {
      const shown = JSON.stringify({ ...message, changes: changes.slice(0, 5) }).slice(0, 1500);
      const { kinds, filter, selection } = this.question;
      const about = `${this.user} ${selection} ${kinds} ${JSON.stringify(filter)}`;
      throw new Error(`${what}: ${shown}
of ${about}
after ${this.#last.join(', ')}`);
    };
    const isWhole = phase === 'SYNCED' || phase === 'LIVE';
    if (this.#isAfterGap && !(reset && (phase === 'SNAPSHOT' || phase === 'SYNCED'))) fail('no reset after GAP');
    this.#isAfterGap = phase === 'GAP';
    if (phase === 'GAP') {
      this.gaps += 1;
      if (reset || changes.length > 0) fail('GAP has changes');
    }
    if (phase === 'LIVE' && (!before.whole || changes.length === 0 || reset))
      fail('LIVE before SYNCED, with reset or empty');
    if (phase === 'SYNCED' && changes.length > 0) fail('SYNCED has changes');
    const ids = new Set<string>();
    for (const { type, id, object, reason } of changes) {
      if (ids.has(id)) fail(`${id} is twice in one message`);
      ids.add(id);
      const isHeld = !reset && before.byId.has(id);
      if (isHeld !== (type !== 'ADDED')) fail(`${type} of an object that is ${isHeld ? '' : 'not '}held`);
      if (phase === 'SNAPSHOT' && type !== 'ADDED') fail('a snapshot has other changes than ADDED');
      if ((type === 'REMOVED') !== (object === null) || (type === 'REMOVED') !== (reason !== null))
        fail('object and reason');
      if (reason === 'NO_LONGER_VISIBLE') this.hidden += 1;
    }
    const removed = changes.filter(({ type }) => type === 'REMOVED').map(({ id }) => id);
    if (JSON.stringify(removed) !== JSON.stringify(message.removedIds)) fail('removedIds');
    const { epoch, sequence } = decodeLiveCursor(cursor);
    if (isWhole !== (sequence !== nowhere)) fail('the cursor does not fit the phase');
    if (isWhole && this.#place?.epoch === epoch && sequence < this.#place.sequence) fail('the cursor goes back');
    if (isWhole) this.#place = { epoch, sequence };
    this.#held = foldChanges(before, message);
    const { byId, whole } = this.#held;
    const again = foldChanges(this.#held, message);
    if (linesOf(again.byId, this.question.selection).join() !== this.lines.join()) fail('folded twice');
    if (whole !== isWhole) fail('the fold is not whole');
    if (!whole) return;
    if (message.totalCount !== null && message.totalCount !== byId.size) fail(`totalCount, and ${byId.size} are held`);
    this.views.push({ list: this, epoch, sequence, byId });
  }
}

export function linesOf(objects: ReadonlyMap<string, Shown>, selection: Selection): readonly string[] {
  return [...objects.values()].map((object) => lineOf(object, selection)).sort();
}
