/**
 * Keeps the generation in step with the catalog in the store.
 *
 *   request -> descriptions read -> catalog assembled -> generation built -> published
 *              `--- in slices, so that requests are answered meanwhile ---´
 *
 * One run at a time. Requests that come during a run lead to one more run. The first of them cancels the current build, because
 * its catalog is outdated. The following build is not cancelled, so that generations are published even while the catalog keeps
 * changing. The next build reuses the parts of a cancelled one. The first generation is never cancelled, since the gateway waits
 * for it.
 */
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { runSliced, type SliceOptions } from '../../base/steps.ts';
import { CatalogAssembler } from '../../catalog/assemble.ts';
import type { Reader } from '../../store/types/lease.ts';
import type { Generation } from '../generation/generation.ts';
import { GenerationBuilder } from '../schema/build-generation.ts';
import { DescriptionCache } from './description-cache.ts';
import { DiagnosticLog } from './diagnostic-log.ts';

export interface SchemaRefreshOptions {
  readonly reader: Reader;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called with each new generation. */
  readonly published: (generation: Generation) => void;
}

export class SchemaRefresh {
  readonly #options: SchemaRefreshOptions;
  readonly #descriptions = new DescriptionCache();
  readonly #assembler = new CatalogAssembler();
  readonly #builder = new GenerationBuilder();
  readonly #diagnostics: DiagnosticLog;
  #current: Generation | null = null;
  #running: Promise<void> | null = null;
  #again = false;
  /** Ends the build that is under way. */
  #building: AbortController | null = null;
  /** May a change of the catalog end it? */
  #mayEnd = false;
  #wasEnded = false;
  #closed = false;

  constructor(options: SchemaRefreshOptions) {
    this.#options = options;
    this.#diagnostics = new DiagnosticLog(options.log);
  }

  /** The generation that was published last; null before the first. */
  get current(): Generation | null {
    return this.#current;
  }

  /**
   * Publishes the generation of the catalog in the store, if it is another one. A failure is logged and the current generation stays;
   * without one it is thrown.
   */
  async refresh(): Promise<void> {
    this.#again = true;
    if (this.#mayEnd) this.#building?.abort(new Error('the catalog has changed'));
    this.#running ??= this.#run();
    await this.#running;
  }

  /** Ends a build that is under way; no generation is published any more. */
  close(): void {
    this.#closed = true;
    this.#building?.abort(new Error('the gateway ends'));
  }

  async #run(): Promise<void> {
    try {
      while (this.#again && !this.#closed) {
        this.#again = false;
        await this.#publish();
      }
    } catch (error) {
      if (!this.#closed) {
        this.#options.log.error(
          { error: messageOf(error) },
          'the next schema could not be built; the current one stays',
        );
      }
      if (this.#current === null) throw error;
    } finally {
      // In the same turn as the last look at `#again`, so that no call falls between the two.
      this.#running = null;
    }
  }

  async #publish(): Promise<void> {
    const stop = new AbortController();
    this.#building = stop;
    this.#mayEnd = this.#current !== null && !this.#wasEnded;
    this.#wasEnded = false;
    try {
      await this.#build({ clock: this.#options.clock, signal: stop.signal });
    } catch (error) {
      if (!stop.signal.aborted || error !== stop.signal.reason) throw error;
      this.#wasEnded = true;
    } finally {
      this.#building = null;
    }
  }

  async #build(slices: SliceOptions): Promise<void> {
    const { reader, log, clock, published } = this.#options;
    const began = clock.monotonic();
    const described = await this.#descriptions.read(reader, slices);
    const catalog = await runSliced(this.#assembler.assemble(described), slices);
    if (this.#current?.catalog.hash === catalog.hash) return;
    const next = await runSliced(this.#builder.build(catalog), slices);
    this.#diagnostics.say(catalog, [...catalog.diagnostics, ...next.diagnostics]);
    this.#current = next;
    const milliseconds = Math.round(clock.monotonic() - began);
    log.info({ generation: next.id, kinds: catalog.kinds.length, milliseconds }, 'schema published');
    published(next);
  }
}
