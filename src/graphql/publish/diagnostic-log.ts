/** Logs the diagnostics of a catalog: each once, and again when its kind has changed. */
import type { Logger } from '../../base/log.ts';
import type { Catalog, Diagnostic } from '../../catalog/resources/catalog.ts';

export class DiagnosticLog {
  readonly #log: Logger;
  /** Diagnostics of the last generation. */
  #logged: ReadonlySet<string> = new Set();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Logs the diagnostics that the last generation did not have. */
  say({ kinds }: Catalog, diagnostics: readonly Diagnostic[]): void {
    const hashes = new Map(kinds.map(({ key, hash }) => [key, hash]));
    const logged = new Set<string>();
    for (const { cluster, resource, message } of diagnostics) {
      const text = JSON.stringify([cluster, resource, message, hashes.get(resource)]);
      if (!this.#logged.has(text) && !logged.has(text)) this.#log.warn({ cluster, resource }, message);
      logged.add(text);
    }
    this.#logged = logged;
  }
}
