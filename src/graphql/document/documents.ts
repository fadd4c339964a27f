/**
 * Parses and validates the documents of all entry points, and charges their callers.
 *
 *   text -> charge by its length -> parse within limits -> size (document-size.ts) -> validate on a schema -> kept, if valid
 *   text of a kept document -> document, without a charge
 *
 * Invariants: a document that is not kept is charged before anything else is done with it. Only valid documents are kept, so a refused one
 * is charged each time. What is kept is bounded.
 */
import { type DocumentNode, GraphQLError, type GraphQLSchema, type Source, specifiedRules, validate } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { PortolanError } from '../../base/errors.ts';
import { type DocumentLimits, defaultLimits, parseWithin } from './document-limits.ts';
import { sizeProblem } from './document-size.ts';

/** Charges values to the caller of the document. @throws PortolanError TOO_MANY_REQUESTS */
export type Charge = (values: number) => void;

/** What a character of a document costs, in values: parsing and validating it takes about as long as answering so many. */
export const valuesPerCharacter = 10;

/** Errors that one document gets. Each may search the names of a whole schema for the one that was meant. */
const mostErrors = 10;
/** In characters: a parsed document takes about fifty times its text. */
const kept = { entries: 1000, weight: 1_000_000 };

export class Documents {
  readonly #limits: DocumentLimits;
  readonly #kept = new BoundedCache<DocumentNode>(kept);
  readonly #texts = new WeakMap<DocumentNode, string>();
  readonly #verdicts = new WeakMap<GraphQLSchema, WeakMap<DocumentNode, readonly GraphQLError[]>>();
  /** The newest document: two entry points may read the same one, one after the other. */
  #newest: { readonly text: string; readonly document: DocumentNode } | null = null;

  constructor(limits: DocumentLimits = defaultLimits) {
    this.#limits = limits;
  }

  /**
   * The document of a text.
   * @throws GraphQLError of the parser, or with the code QUERY_TOO_COSTLY or TOO_MANY_REQUESTS
   */
  parse(source: string | Source, charge: Charge): DocumentNode {
    const text = typeof source === 'string' ? source : source.body;
    const known = this.#kept.get(text);
    if (known !== undefined) return known;
    try {
      charge(text.length * valuesPerCharacter);
    } catch (error) {
      throw error instanceof PortolanError ? chargeRefused(error) : error;
    }
    if (this.#newest?.text === text) return this.#newest.document;
    const document = parseWithin(source, {}, this.#limits);
    this.#texts.set(document, text);
    this.#newest = { text, document };
    return document;
  }

  /** The errors of the document on the schema; the first few of them. */
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const verdicts = this.#verdicts.get(schema) ?? new WeakMap<DocumentNode, readonly GraphQLError[]>();
    this.#verdicts.set(schema, verdicts);
    const errors = verdicts.get(document) ?? this.#errorsOf(schema, document);
    verdicts.set(document, errors);
    const text = this.#texts.get(document);
    if (text === undefined) return errors;
    if (errors.length > 0) this.#kept.delete(text);
    else if (this.#kept.get(text) === undefined) this.#kept.set(text, document, text.length);
    return errors;
  }

  /** A document over a limit has one error, and is not validated. */
  #errorsOf(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const problem = sizeProblem(document, this.#limits);
    return problem === null ? validate(schema, document, specifiedRules, { maxErrors: mostErrors }) : [problem];
  }
}

/** Yoga answers a GraphQLError of the parser as it is, with the status where the media type defines statuses. */
function chargeRefused({ message, code, details }: PortolanError): GraphQLError {
  return new GraphQLError(message, { extensions: { ...details, code, http: { spec: true, status: 429 } } });
}
