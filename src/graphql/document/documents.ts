/**
 * Parses and validates the documents of all entry points, and charges their callers.
 *
 *   text -> charge by its length -> parse within limits -> size (document-size.ts) -> validate on a schema
 *   the same text again, of another request -> all of that again -> kept
 *   the same text again, of the same request -> the same document, without a charge
 *   text of a kept document -> document, without a charge
 *
 * Invariants: a document that is not kept is charged before anything else is done with it. Only valid documents are kept, so a refused one
 * is charged each time. A document is kept at its second use. Most texts with values in them come once, and would push out the others. A
 * parsed document takes many times the memory of its text. While somebody still runs the document of the
 * first use, the second use gets the same one, so subscriptions of one text share their work. The kept documents are bounded.
 */
import { type DocumentNode, GraphQLError, type GraphQLSchema, type Source, specifiedRules, validate } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { PortolanError } from '../../base/errors.ts';
import { type DocumentLimits, defaultLimits, parseWithin } from './document-limits.ts';
import { sizeProblem } from './document-size.ts';
import { withHint } from './hints.ts';

/** A request, which pays for its document. */
export interface Payer {
  /** @throws PortolanError TOO_MANY_REQUESTS */
  charge(values: number): void;
}

/** The cost of a character of a document, in values: parsing and validating it takes about as long as answering so many. */
export const valuesPerCharacter = 10;

/** Errors that one document gets. Each may search the names of a whole schema for the intended name. */
const mostErrors = 10;
/** In characters: a parsed document takes about thirty times its text. */
const kept = { entries: 1000, weight: 1_000_000 };
/** Texts that were used once, with documents that this cache does not hold in memory. In characters too. */
const used = { entries: 5000, weight: 1_000_000 };

/** The facts about a document that is not kept yet. */
interface Fresh {
  readonly text: string;
  /** Was its text used before? */
  readonly isKnown: boolean;
}

/** A text that a request has paid for. */
interface Paid {
  readonly text: string;
  /** Its document. @throws the error of the parser for a text that is none */
  readonly document: () => DocumentNode;
}

export class Documents {
  readonly #limits: DocumentLimits;
  readonly #kept = new BoundedCache<DocumentNode>(kept);
  readonly #used = new BoundedCache<WeakRef<DocumentNode>>(used);
  readonly #fresh = new WeakMap<DocumentNode, Fresh>();
  readonly #verdicts = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, readonly GraphQLError[]>>();
  readonly #paid = new WeakMap<Payer, Paid>();

  constructor(limits: DocumentLimits = defaultLimits) {
    this.#limits = limits;
  }

  /**
   * The document of a text. A request pays for its text once, and all that reads it is one use of it.
   * @throws GraphQLError of the parser, or with the code QUERY_TOO_COSTLY or TOO_MANY_REQUESTS
   */
  parse(source: string | Source, payer: Payer): DocumentNode {
    const text = typeof source === 'string' ? source : source.body;
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    const earlier = this.#paid.get(payer);
    if (earlier?.text === text) return earlier.document();
    try {
      payer.charge(text.length * valuesPerCharacter);
    } catch (error) {
      throw error instanceof PortolanError ? chargeRefused(error) : error;
    }
    try {
      const first = this.#used.get(text);
      const document = first?.deref() ?? parseWithin(source, {}, this.#limits);
      this.#fresh.set(document, { text, isKnown: first !== undefined });
      this.#paid.set(payer, { text, document: () => document });
      return document;
    } catch (error) {
      const refused = (): never => {
        throw error;
      };
      this.#paid.set(payer, { text, document: refused });
      throw error;
    }
  }

  /** The errors of the document on the schema; the first few of them. */
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const verdicts = this.#verdicts.get(schema) ?? new WeakMap<DocumentNode, readonly GraphQLError[]>();
    this.#verdicts.set(schema, verdicts);
    const errors = verdicts.get(document) ?? this.#errorsOf(schema, document);
    verdicts.set(document, errors);
    const fresh = this.#fresh.get(document);
    if (fresh === undefined) return errors;
    const { text, isKnown } = fresh;
    if (errors.length > 0) this.#kept.delete(text);
    else if (!isKnown) this.#used.set(text, new WeakRef(document), text.length);
    else if (this.#kept.get(text) === undefined) this.#kept.set(text, document, text.length);
    return errors;
  }

  /** A document over a limit has one error, and is not validated. */
  #errorsOf(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const problem = sizeProblem(document, this.#limits);
    if (problem !== null) return [problem];
    const errors = validate(schema, document, specifiedRules, { maxErrors: mostErrors });
    return errors.map((error) => withHint(schema, error));
  }
}

/** Yoga answers a GraphQLError of the parser as it is, with the status where the media type defines statuses. */
function chargeRefused({ message, code, details }: PortolanError): GraphQLError {
  return new GraphQLError(message, { extensions: { ...details, code, http: { spec: true, status: 429 } } });
}
