/**
 * How much a caller may hand in at once, and the count of what has been read of it.
 *
 * Owns: the bounds, the counts, and the error of each bound. Reading stops at the first value beyond a bound, so the memory and the time
 * of a hostile text are bounded as well.
 * Never: a bound of one object, such as the API server's own of 3 MiB for a request, or those of etcd. The server tells them.
 */
import { PortolanError } from '../../base/errors.ts';

/** Of all that is read at once: a call, or the documents of an operation. */
interface ManifestBounds {
  /** Bytes of the texts as UTF-8. */
  readonly bytes: number;
  /** Objects, with those in a List. A text has at most so many documents that are not empty. */
  readonly objects: number;
  /** Levels of lists and objects in one document, also in copies for aliases. The outermost is level 1. */
  readonly levels: number;
  /** Aliases (`*name`) in a text. */
  readonly aliases: number;
  /** Lists, objects, keys and scalars in all documents together. Each alias counts as a copy of its values. */
  readonly values: number;
  /** Characters of keys and scalars in all documents together. Each alias counts as a copy of its values. */
  readonly characters: number;
  /** Tokens of YAML in a text: also comments, line breaks and indicators. */
  readonly tokens: number;
}

export const manifestBounds: ManifestBounds = Object.freeze({
  // As many as the API server takes in a request.
  bytes: 3 * 2 ** 20,
  // Each object is at least one request to an API server.
  objects: 1000,
  // The deepest objects are schemas in definitions: they stay below 60 levels.
  levels: 100,
  aliases: 100,
  // 3 MiB of usual manifests have less than 300,000 values.
  values: 500_000,
  // Twice as many as a text has bytes. More can only be copies: of a long scalar by aliases, or of a variable of GraphQL in a literal.
  characters: 6 * 2 ** 20,
  // The largest request, 1 MiB, has less than 370,000 of usual manifests. The YAML parser needs about one second and 200 MB for the densest
  // 400,000.
  tokens: 400_000,
});

/** The error of each bound. It says how the caller can stay below. */
const advice: Readonly<Record<keyof ManifestBounds, (allowed: number) => string>> = {
  bytes: (allowed) => `The text has more than ${allowed} bytes, the most that is read at once. Send it in parts.`,
  objects: (allowed) => `There are more than ${allowed} objects, the most that are read at once. Send them in parts.`,
  levels: (allowed) => `A value nests deeper than ${allowed} levels, the most that are read. Nest it less.`,
  aliases: (allowed) =>
    `The YAML has more than ${allowed} aliases, the most that are read at once. Write the values out, or send the objects in parts.`,
  values: (allowed) =>
    `There are more than ${allowed} values, the most that are read at once. Send the objects in parts; each alias counts as the values that it stands for.`,
  characters: (allowed) =>
    `The values have more than ${allowed} characters, the most that are read at once. Send the objects in parts; each alias counts as the values that it stands for.`,
  tokens: (allowed) =>
    `The YAML has more than ${allowed} tokens, the most that are read at once. Send the objects in parts, or without comments and empty lines.`,
};

/** The counts of what is read at once. Every method throws PortolanError BAD_USER_INPUT beyond its bound. */
export class ManifestBudget {
  readonly #bounds: ManifestBounds;
  readonly #counts = { bytes: 0, objects: 0, documents: 0, aliases: 0, values: 0, characters: 0, tokens: 0 };

  constructor(bounds: ManifestBounds) {
    this.#bounds = bounds;
  }

  /** The bytes of all texts so far. */
  get bytes(): number {
    return this.#counts.bytes;
  }

  text(text: string): void {
    this.#counts.bytes += Buffer.byteLength(text);
    this.#check('bytes', this.#counts.bytes);
  }

  /** A document that is not empty. It counts apart from the objects, because a List is a document and no object. */
  document(): void {
    this.#check('objects', ++this.#counts.documents);
  }

  object(): void {
    this.#check('objects', ++this.#counts.objects);
  }

  alias(): void {
    this.#check('aliases', ++this.#counts.aliases);
  }

  values(count: number): void {
    this.#counts.values += count;
    this.#check('values', this.#counts.values);
  }

  characters(count: number): void {
    this.#counts.characters += count;
    this.#check('characters', this.#counts.characters);
  }

  token(): void {
    this.#check('tokens', ++this.#counts.tokens);
  }

  /** `level` counts from 1. */
  level(level: number): void {
    this.#check('levels', level);
  }

  #check(limit: keyof ManifestBounds, count: number): void {
    const allowed = this.#bounds[limit];
    if (count > allowed)
      throw new PortolanError('BAD_USER_INPUT', advice[limit](allowed), { details: { limit, allowed } });
  }
}
