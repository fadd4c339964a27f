/** Says in the log what a catalog's diagnostics are about: each once, and again when its kind has changed. */
import type { Logger } from '../../base/log.ts';
import type { Catalog, Diagnostic } from '../../catalog/resources/catalog.ts';

export class DiagnosticLog {
  readonly #log: Logger;
  /** Diagnostics of the last generation. */
  #said: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Warns of the diagnostics that the last generation did not have. */
  say({ kinds }: Catalog, diagnostics: readonly Diagnostic[]): void {
    const hashes = new Map(kinds.map(({ key, hash }) => [key, hash]));
    const said = new Set<string>();
    for (const { cluster, resource, message } of diagnostics) {
      const text = JSON.stringify([cluster, resource, message, hashes.get(resource)]);
      if (!this.#said.has(text) && !said.has(text)) this.#log.warn({ cluster, resource }, message);
      said.add(text);
    }
    this.#said = said;
  }
}
