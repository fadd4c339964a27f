/** The keys of one object of a text. Each may be there once, and none may change what JavaScript code reads of the object. */
import type { ManifestText } from './manifest-text.ts';

export class ObjectKeys {
  readonly #source: ManifestText;
  readonly #keys = new Set<string>();

  constructor(source: ManifestText) {
    this.#source = source;
  }

  /** @throws PortolanError BAD_USER_INPUT for a key that is there already, and for one that is not allowed */
  add(key: string, offset: number): void {
    if (isForbiddenKey(key)) throw this.#source.error(offset, `There is the key ${key}`, 'Rename or remove it.');
    if (this.#keys.has(key))
      throw this.#source.error(
        offset,
        `There is a second key ${JSON.stringify(key)} of the same object`,
        'Keep one of the two.',
      );
    this.#keys.add(key);
  }
}

/** Code that copies an object by assignment would give the copy another prototype. */
export function isForbiddenKey(key: string): boolean {
  return key === '__proto__';
}
