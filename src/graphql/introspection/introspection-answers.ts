/**
 * Answers to introspection of whole schemas, made once for each generation and form.
 *
 * A form is a document with its operation name and variables, the `extensions` of the answer, and an encoding. Simultaneous
 * questions of the same form share one run. Answers are cached while their generation is current, up to a bound.
 */
import { type DocumentNode, print } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import type { Generation } from '../generation/generation.ts';
import type { Encoding } from './introspection-messages.ts';
import { IntrospectionThread } from './introspection-thread.ts';

export interface IntrospectionQuery {
  /** Valid on the generation's schema. */
  readonly document: DocumentNode;
  readonly operationName: string | null;
  readonly variables: Readonly<Record<string, unknown>>;
  /** The `extensions` of the answer. */
  readonly extensions: Readonly<Record<string, unknown>>;
  readonly encoding: Encoding;
}

/** JSON text in an encoding, as bytes. */
export type Answer = Uint8Array<ArrayBuffer>;

type Thread = Pick<IntrospectionThread, 'ask' | 'close'>;

/** The answer for a thousand kinds is 46 MB, and about 1 MB with Brotli. */
const bounds = { entries: 64, weight: 96 * 1024 * 1024 };

export class IntrospectionAnswers {
  readonly #thread: Thread;
  readonly #known = new BoundedCache<Answer>(bounds);
  readonly #running = new Map<string, Promise<Answer | null>>();
  /** Id of the generation of the cached answers. */
  #generation = '';

  constructor(thread: Thread = new IntrospectionThread()) {
    this.#thread = thread;
  }

  /**
   * The whole answer, byte for byte the JSON of the executor's result. Null if the execution has errors: the executor reports them.
   * @throws what IntrospectionThread.ask throws.
   */
  async answer(generation: Generation, query: IntrospectionQuery): Promise<Answer | null> {
    if (generation.id !== this.#generation) {
      this.#known.clear();
      this.#generation = generation.id;
    }
    const { operationName, variables, encoding } = query;
    const extensions = JSON.stringify(query.extensions);
    const document = textOf(query.document);
    const form = JSON.stringify([generation.id, document, operationName, variables, extensions, encoding]);
    const known = this.#known.get(form);
    if (known !== undefined) return known;
    const question = { document, operationName, variables, extensions, encoding };
    const running = this.#running.get(form) ?? this.#run(form, generation, question);
    this.#running.set(form, running);
    return running;
  }

  /** Ends the thread. */
  close(): Promise<void> {
    return this.#thread.close();
  }

  async #run(
    form: string,
    generation: Generation,
    question: Parameters<IntrospectionThread['ask']>[1],
  ): Promise<Answer | null> {
    try {
      const answer = await this.#thread.ask(generation, question);
      if (answer !== null && generation.id === this.#generation) {
        this.#known.set(form, answer, form.length + answer.byteLength);
      }
      return answer;
    } finally {
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
