/**
 * Answers of queries in memory: the same question of the same scopes is answered from here while its kinds do not change.
 *
 *   question, first time     only its key is noted: most questions are never asked again
 *   question, second time    answered from the store, and kept with the state of its kinds
 *   question, later          one synchronous read of the store: unchanged -> the kept text with the revision of that read
 *                                                               changed   -> dropped; answered from the store
 *
 * Owns: the texts, bounded by their bytes. Never keeps: an answer with errors, with missing resources or with warnings, and one that
 * depends on more than the objects of kinds (`Operation.madeIn`).
 *
 * Invariants:
 *   - A kept answer is as new as one that is read from the store now. The proof is a read of the store at each request, not a commit
 *     signal, which arrives later than the commit. So a client never sees an older state than in an answer before.
 *   - Callers with equal scopes share answers. The scopes are those of the snapshot that proves the answer, or newer.
 *   - Answers of a replaced generation, or made under other limits, are dropped.
 *
 * Example: a page of Pods is kept at revision 10. Revisions 11 to 14 are Events: the page is answered as of 14. Revision 15 is a Pod:
 * the page is read again.
 */
import type { Caller } from '../../access/caller.ts';
import type { Rights } from '../../access/rights.ts';
import type { Scopes } from '../../access/scope.ts';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { isUnchanged, type KindState, stateStatement } from '../../query/read/kind-state.ts';
import type { PageReader } from '../../store/types/page-reader.ts';
import type { Row, Statement } from '../../store/types/statement.ts';
import { type AnswerTexts, answerEnd, answerHead, dataBegin } from './answer-text.ts';

/** A query and its caller. */
interface KeptQuestion {
  /** Of the document, the name of its operation and its variables. */
  readonly key: string;
  readonly caller: Caller;
  /** The newest scopes of the caller that are known. */
  readonly scopes: Scopes;
}

/** The snapshot of an answer. */
export interface MadeIn {
  readonly state: KindState;
  /** Version of the layouts of that snapshot. */
  readonly layoutVersion: number;
  /** The answer shows its revision in the data: it is true only at this revision. */
  readonly isOfRevision: boolean;
}

/** An answer that may be kept. */
interface MadeAnswer {
  readonly texts: AnswerTexts;
  readonly made: MadeIn;
  /** The operation's estimated cost, in values. */
  readonly asked: number;
  /** The operation's name in its document. */
  readonly name: string | null;
}

interface AnswersOptions {
  readonly pages: PageReader;
  /** The most bytes of answers; read at each use, 0 keeps none. */
  readonly bytes: () => number;
  readonly rights: Pick<Rights, 'statement' | 'now' | 'isCurrent' | 'pending'>;
  /** The current generation, compared by identity. */
  readonly generation: () => object;
  /** Everything else that the same question's answer depends on, as a text. */
  readonly settings: () => string;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
}

/** Answers found and not found since the start, and what is kept now. */
export interface AnswersFacts {
  readonly hits: number;
  readonly misses: number;
  readonly answers: number;
  readonly bytes: number;
}

/**
 * Milliseconds that an answer is kept in scopes that come from reviews. An operation in such scopes has expired reviews asked again. A
 * kept answer asks nothing.
 */
const reviewedMs = 2000;
const mostAnswers = 10_000;
/** Keys of questions that were asked once. */
const mostNoted = 20_000;

/** An answer in memory. Its text is made for each revision. */
export class KeptAnswer {
  readonly asked: number;
  readonly name: string | null;
  readonly made: MadeIn;
  /** Until when it may be used, on the monotonic clock. */
  readonly until: number;
  /** Where the bytes of the data end in the body. */
  readonly dataEnd: number;
  readonly #headBytes: number;
  #body: Buffer;
  #revision = -1;
  #question: { readonly since: number; readonly statement: Statement } | null = null;
  /** Compressed forms of the body by content coding. They are of the body's revision. */
  readonly coded = new Map<string, Uint8Array>();
  /** Entity tags of the head, by content type. */
  readonly tags = new Map<string, string>();
  isUsed = false;

  constructor({ made, asked, name, texts }: MadeAnswer, head: string, until: number) {
    this.dataEnd = dataBegin + Buffer.byteLength(texts.data);
    this.made = made;
    this.asked = asked;
    this.name = name;
    this.until = until;
    this.#body = Buffer.from(head);
    this.#headBytes = this.#body.length;
  }

  get bytes(): number {
    let bytes = this.#body.length;
    for (const coded of this.coded.values()) bytes += coded.length;
    return bytes;
  }

  /** The text without its revision. */
  get head(): Uint8Array {
    return this.#body.subarray(0, this.#headBytes);
  }

  /** The whole text, as of the newest snapshot in which it is known to be true. */
  get body(): Buffer {
    const { revision } = this.made.state;
    if (revision !== this.#revision) {
      this.#body = Buffer.concat([this.head, Buffer.from(answerEnd(revision))]);
      this.#revision = revision;
      this.coded.clear();
    }
    return this.#body;
  }

  /** The statement that proves it. The same object while the revision is the same, so that its rows are read once for a commit. */
  get statement(): Statement {
    const { kinds, revision: since } = this.made.state;
    if (this.#question?.since !== since) this.#question = { since, statement: stateStatement(kinds, since) };
    return this.#question.statement;
  }
}

export class KeptAnswers {
  readonly #options: AnswersOptions | null;
  #answers = new BoundedCache<KeptAnswer>({ entries: 0, weight: 0 });
  #noted = new BoundedCache<true>({ entries: mostNoted, weight: mostNoted });
  #generation: object | null = null;
  #settings = '';
  #bytes = 0;
  #hits = 0;
  #misses = 0;

  /** @param options null: nothing is kept. */
  constructor(options: AnswersOptions | null) {
    this.#options = options;
  }

  /** May answers be kept now? */
  get isOn(): boolean {
    return this.#options !== null && this.#options.bytes() > 0;
  }

  get facts(): AnswersFacts {
    return { hits: this.#hits, misses: this.#misses, answers: this.#answers.size, bytes: this.#answers.weight };
  }

  /** The kept answer, if it is what the store would answer now; else null. Counts a hit or a miss. */
  find(question: KeptQuestion): KeptAnswer | null {
    if (!this.isOn) return null;
    const found = this.#find(question);
    if (found === null) this.#misses += 1;
    else this.#hits += 1;
    return found;
  }

  #find(question: KeptQuestion): KeptAnswer | null {
    this.#refresh();
    const id = idOf(question);
    const known = this.#answers.get(id);
    if (known === undefined) return null;
    const verdict = this.#isTrue(known, question);
    if (verdict === 'unknown') return null;
    if (verdict) {
      known.isUsed = true;
      return known;
    }
    this.#answers.delete(id);
    // The kinds change faster than the question is asked: keeping its next answer would be useless too.
    if (!known.isUsed) this.#noted.delete(id);
    return null;
  }

  /** Whether an answer would be kept: the question was asked before. Otherwise notes it. */
  wants(question: Pick<KeptQuestion, 'key' | 'scopes'>): boolean {
    if (!this.isOn) return false;
    this.#refresh();
    const id = idOf(question);
    if (this.#noted.get(id) === true) return true;
    this.#noted.set(id, true, 1);
    return false;
  }

  /**
   * Keeps an answer, unless it is a partial one. The scopes of the question are those in which it was made.
   * @param generation the one that the answer was made on.
   */
  keep(question: KeptQuestion, generation: object, answer: MadeAnswer): void {
    const head = answerHead(answer.texts);
    if (head === null || this.#options === null || !this.isOn) return;
    this.#refresh();
    if (generation !== this.#generation || question.scopes.unknown?.size) return;
    const { monotonic } = this.#options;
    const until = question.scopes.want === undefined ? Number.POSITIVE_INFINITY : monotonic() + reviewedMs;
    const kept = new KeptAnswer(answer, head, until);
    this.#answers.set(idOf(question), kept, kept.bytes);
  }

  /** Keeps a compressed form of a kept answer's body. */
  keepCoded(
    question: Pick<KeptQuestion, 'key' | 'scopes'>,
    answer: KeptAnswer,
    coding: string,
    coded: Uint8Array,
  ): void {
    const id = idOf(question);
    if (this.#answers.get(id) !== answer) return;
    answer.coded.set(coding, coded);
    this.#answers.set(id, answer, answer.bytes);
  }

  /** Is the answer true now? `unknown` if the store cannot be read at once. */
  #isTrue(known: KeptAnswer, { caller, scopes }: KeptQuestion): boolean | 'unknown' {
    if (this.#options === null) return false;
    const { pages, rights, monotonic } = this.#options;
    if (monotonic() >= known.until) return false;
    const { statement } = rights;
    const read = pages.pagesNow(statement === null ? [known.statement] : [known.statement, statement], []);
    if (read === null || read === 'spent') return 'unknown';
    const [[row] = [], rightsRows = []] = read.rows as readonly (readonly Row[])[];
    if (statement !== null && !rights.isCurrent(read.epoch, rightsRows)) return 'unknown';
    if (rights.now(caller)?.id !== scopes.id || rights.pending(caller, scopes) !== null) return 'unknown';
    const { state, layoutVersion, isOfRevision } = known.made;
    if (layoutVersion !== read.layoutVersion || (isOfRevision && read.revision !== state.madeAt)) return false;
    return isUnchanged(state, read, row);
  }

  /** Drops all answers of another generation, or made under other limits. */
  #refresh(): void {
    if (this.#options === null) return;
    const { generation, settings, bytes } = this.#options;
    const [current, set, most] = [generation(), settings(), bytes()];
    if (current === this.#generation && set === this.#settings && most === this.#bytes) return;
    this.#answers = new BoundedCache({ entries: mostAnswers, weight: most });
    this.#noted = new BoundedCache({ entries: mostNoted, weight: mostNoted });
    this.#generation = current;
    this.#settings = set;
    this.#bytes = most;
  }
}

function idOf({ key, scopes }: Pick<KeptQuestion, 'key' | 'scopes'>): string {
  return `${scopes.id} ${key}`;
}
