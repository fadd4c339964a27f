/**
 * Answers to introspection, made once for each generation and form: whole ones, and the part of an answer that also has data.
 *
 * A form is a document with its operation name, variables and profile. The `extensions` of the answer and an encoding belong to it.
 * Simultaneous questions of the same form share one run. Answers are cached while their generation is current, up to a bound. The thread
 * serves waiting callers in turn. Long parts are parsed one at a time, with pauses in between, so that other requests are answered
 * meanwhile.
 */
import { type DocumentNode, print } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { Semaphore } from '../../base/concurrency/semaphore.ts';
import { must } from '../../base/must.ts';
import type { Generation } from '../generation/generation.ts';
import type { Encoding, Question } from './introspection-messages.ts';
import { IntrospectionThread } from './introspection-thread.ts';
import type { PartResult } from './root-parts.ts';

export interface IntrospectionQuery {
  /** Valid on the generation's schema. */
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The keys of the only kinds that the schema shows; null: all. */
  readonly kinds: readonly string[] | null;
  /** The `extensions` of the answer. */
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly encoding: Encoding;
}

/** The caller of a question, for the order of waiting questions. */
type Client = string;

/** JSON text in an encoding, as bytes. */
interface Answer {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Bytes that this question has cost: the bytes that were made, or the bytes of a known answer. */
  readonly cost: number;
}

/** The introspection of a document that also has data. */
interface Part {
  readonly result: PartResult;
  readonly cost: number;
}

type Thread = Pick<IntrospectionThread, 'ask' | 'close'>;

/** The answer for a thousand kinds is 46 MB, and about 1 MB with Brotli. */
const bounds = { entries: 64, weight: 96 * 1024 * 1024 };
/** Questions that the thread has at a time. Others wait here. */
const asked = 2;
/** Parts of fewer bytes are parsed at once. */
const shortPart = 64 * 1024;
/** A pause is so many times as long as the parsing before it. The answer is written as JSON in the pause. */
const pauses = 10;

export class IntrospectionAnswers {
  readonly #thread: Thread;
  readonly #known = new BoundedCache<Uint8Array<ArrayBuffer>>(bounds);
  readonly #running = new Map<string, Promise<Answer | null>>();
  readonly #questions = new Semaphore(asked);
  readonly #parsing = new Semaphore(1);
  /** Id of the generation of the cached answers. */
  #generation = '';

  constructor(thread: Thread = new IntrospectionThread()) {
    this.#thread = thread;
  }

  /**
   * The whole answer, byte for byte the JSON of the executor's result. Null if the execution has errors: the executor reports them.
   * @throws what IntrospectionThread.ask throws.
   */
  async answer(generation: Generation, query: IntrospectionQuery, client: Client): Promise<Answer | null> {
    const { operationName, variables, kinds, encoding } = query;
    const extensions = JSON.stringify(query.extensions);
    return this.#find(
      generation,
      { document: textOf(query.document), operationName, variables, kinds, extensions, encoding },
      client,
    );
  }

  /**
   * The result of the document's introspection, with its errors; its data is executed elsewhere.
   * @throws what IntrospectionThread.ask throws.
   */
  async part(
    generation: Generation,
    { document, operationName, variables, kinds }: Omit<IntrospectionQuery, 'extensions' | 'encoding'>,
    client: Client,
  ): Promise<Part> {
    // The text as it was sent, because errors have places in it.
    const text = document.loc?.source.body ?? textOf(document);
    const rest = { extensions: null, encoding: 'identity' } as const;
    const question = { document: text, operationName, variables, kinds, ...rest };
    const { bytes, cost } = must(await this.#find(generation, question, client), 'a part is a result');
    const parse = (): PartResult => JSON.parse(Buffer.from(bytes.buffer).toString()) as PartResult;
    if (bytes.byteLength < shortPart) return { result: parse(), cost };
    const leave = await this.#parsing.enter(undefined, client);
    const began = performance.now();
    try {
      return { result: parse(), cost };
    } finally {
      setTimeout(leave, pauses * (performance.now() - began));
    }
  }

  /**
   * The schema as SDL.
   * @throws what IntrospectionThread.ask throws.
   */
  async sdl(
    generation: Generation,
    { kinds, encoding }: Pick<IntrospectionQuery, 'kinds' | 'encoding'>,
    client: Client,
  ): Promise<Answer> {
    const nothing = { document: null, operationName: null, variables: {}, extensions: null };
    return must(await this.#find(generation, { ...nothing, kinds, encoding }, client), 'SDL has no errors');
  }

  /** Ends the thread. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  async #find(generation: Generation, question: Question, client: Client): Promise<Answer | null> {
    if (generation.id !== this.#generation) {
      this.#known.clear();
      this.#generation = generation.id;
    }
    const { document, operationName, variables, kinds, extensions, encoding } = question;
    const form = JSON.stringify([generation.id, document, operationName, variables, kinds, extensions, encoding]);
    const known = this.#known.get(form);
    if (known !== undefined) return { bytes: known, cost: known.byteLength };
    const running = this.#running.get(form) ?? this.#run(form, generation, question, client);
    this.#running.set(form, running);
    return running;
  }

  async #run(form: string, generation: Generation, question: Question, client: Client): Promise<Answer | null> {
    const leave = await this.#questions.enter(undefined, client);
    try {
      const made = await this.#thread.ask(generation, question);
      if (made === null) return null;
      const { bytes, length } = made;
      if (generation.id === this.#generation) this.#known.set(form, bytes, form.length + bytes.byteLength);
      return { bytes, cost: length };
    } finally {
      leave();
      this.#running.delete(form);
    }
  }
}

const texts = new WeakMap<DocumentNode, string>();

/** The document as text, without insignificant spaces, comments and commas. */
function textOf(document: DocumentNode): string {
  const text = texts.get(document) ?? print(document);
  texts.set(document, text);
  return text;
}
