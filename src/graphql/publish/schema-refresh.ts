/**
 * Updates the generation when the catalog in the store changes.
 *
 *   request -> descriptions read -> catalog assembled -> generation built -> published
 *              `--- in slices, so that requests are answered meanwhile ---´
 *
 * One run at a time. Requests that come during a run lead to one more run. The first of them cancels the current build, because
 * its catalog is outdated. The following build is not cancelled, so that generations are published even while the catalog changes
 * often. The next build reuses the parts of a cancelled one. The first generation is never cancelled, since the gateway waits
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

interface SchemaRefreshOptions {
  /** One for each cell. */
  readonly readers: readonly Reader[];
  readonly log: Logger;
  readonly clock: Clock;
  /** The prefix of the names of types. Default: empty. */
  readonly typePrefix?: string;
  /** Called with each new generation. */
  readonly published: (generation: Generation) => void;
}

export class SchemaRefresh {
  readonly #options: SchemaRefreshOptions;
  readonly #descriptions = new DescriptionCache();
  readonly #assembler: CatalogAssembler;
  readonly #builder: GenerationBuilder;
  readonly #diagnostics: DiagnosticLog;
  #current: Generation | null = null;
  #published = 0;
  #running: Promise<void> | null = null;
  #again = false;
  /** Aborts the running build. */
  #building: AbortController | null = null;
  /** May a change of the catalog abort it? */
  #mayAbort = false;
  #wasAborted = false;
  #closed = false;

  constructor(options: SchemaRefreshOptions) {
    this.#options = options;
    const { typePrefix = '' } = options;
    this.#assembler = new CatalogAssembler(typePrefix);
    this.#builder = new GenerationBuilder({ typePrefix });
    this.#diagnostics = new DiagnosticLog(options.log);
  }

  /** The generation that was published last; null before the first. */
  get current(): Generation | null {
    return this.#current;
  }

  /** The number of published generations. */
  get published(): number {
    return this.#published;
  }

  /**
   * Builds and publishes the next generation, if the catalog in the store has changed. A failure is logged, and the current
   * generation stays. Without a current generation, the error is also thrown.
   */
  async refresh(): Promise<void> {
    this.#again = true;
    if (this.#mayAbort) this.#building?.abort(new Error('the catalog has changed'));
    this.#running ??= this.#run();
    await this.#running;
  }

  /** Aborts the running build. No generation is published after it. */
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
      // In the same turn as the last check of `#again`, so that no call is lost between the two.
      this.#running = null;
    }
  }

  async #publish(): Promise<void> {
    const stop = new AbortController();
    this.#building = stop;
    this.#mayAbort = this.#current !== null && !this.#wasAborted;
    this.#wasAborted = false;
    try {
      await this.#build({ clock: this.#options.clock, signal: stop.signal });
    } catch (error) {
      if (!stop.signal.aborted || error !== stop.signal.reason) throw error;
      this.#wasAborted = true;
    } finally {
      this.#building = null;
    }
  }

  async #build(slices: SliceOptions): Promise<void> {
    const { readers, log, clock, published } = this.#options;
    const began = clock.monotonic();
    const { described, came } = await this.#descriptions.read(readers, slices);
    const catalog = await runSliced(this.#assembler.assemble(described, came), slices);
    if (this.#current?.catalog.hash === catalog.hash) {
      this.#diagnostics.say(catalog, [...catalog.diagnostics, ...this.#current.diagnostics]);
      return;
    }
    const next = await runSliced(this.#builder.build(catalog), slices);
    this.#diagnostics.say(catalog, [...catalog.diagnostics, ...next.diagnostics]);
    this.#current = next;
    this.#published += 1;
    const milliseconds = Math.round(clock.monotonic() - began);
    log.info({ generation: next.id, kinds: catalog.kinds.length, milliseconds }, 'schema published');
    published(next);
  }
}
