/**
 * Profiles: named lists of kinds that tools see of a schema. A page of the playground and a code generator need a dozen kinds, not
 * a thousand. Names are those of the whole schema, and a document that is valid for a profile is valid for the whole. A profile is no right:
 * callers may use the other kinds too.
 *
 *   --profile 'team=pods deployments.apps *.cert-manager.io'      /graphql?profile=team, or the header x-portolan-profile
 */
import { PortolanError } from '../../base/errors.ts';
import type { ServedKinds } from '../../operation/served-kinds.ts';

export const profileHeader = 'x-portolan-profile';

export class Profiles {
  readonly #read: () => readonly string[];
  #profiles: readonly string[] = [];
  /** The words of each profile, as in `objects(kinds:)`. */
  #words: ReadonlyMap<string, readonly string[]> = new Map();
  readonly #keys = new Map<string, readonly string[]>();
  /** Id of the generation of `#keys`. */
  #generation = '';

  /** @param read the values of --profile: a name, `=`, and words with spaces between them. Words of one name add up. */
  constructor(read: () => readonly string[] = () => []) {
    this.#read = read;
  }

  /**
   * The keys of the kinds of a profile, sorted; null without a name. Words that name no kind are left out: the kind may come later.
   * @throws PortolanError BAD_USER_INPUT for an unknown name
   */
  kindsOf(name: string | null | undefined, kinds: ServedKinds): readonly string[] | null {
    if (name == null || name === '') return null;
    this.#refresh(kinds.id);
    const words = this.#words.get(name);
    if (words === undefined) {
      const known = [...this.#words.keys()];
      const told = known.length === 0 ? 'there are none; --profile declares them' : `there are ${known.join(', ')}`;
      throw new PortolanError('BAD_USER_INPUT', `There is no profile ${JSON.stringify(name)}: ${told}.`);
    }
    const found = this.#keys.get(name) ?? [...new Set(words.flatMap((word) => keysOf(word, kinds)))].sort();
    this.#keys.set(name, found);
    return found;
  }

  /** In the order of their first mention. */
  names(): readonly string[] {
    return [...new Set(this.#read().map((profile) => profile.slice(0, profile.indexOf('=')).trim()))];
  }

  #refresh(generation: string): void {
    const profiles = this.#read();
    if (profiles === this.#profiles && generation === this.#generation) return;
    this.#keys.clear();
    this.#generation = generation;
    this.#profiles = profiles;
    const words = new Map<string, readonly string[]>();
    for (const profile of profiles) {
      const at = profile.indexOf('=');
      const name = profile.slice(0, at).trim();
      words.set(name, [
        ...(words.get(name) ?? []),
        ...profile
          .slice(at + 1)
          .trim()
          .split(/\s+/),
      ]);
    }
    this.#words = words;
  }
}

function keysOf(word: string, kinds: ServedKinds): readonly string[] {
  try {
    return kinds.kinds([word]).map(({ key }) => key);
  } catch (error) {
    if (error instanceof PortolanError && error.code === 'BAD_USER_INPUT') return [];
    throw error;
  }
}
