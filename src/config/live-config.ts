/**
 * The configuration of a running gateway. Its file is read again when it changes, for instance when a ConfigMap is updated.
 *
 *   changed options that are `live`   used from now on
 *   other changed options             used after a restart; a warning names them
 *   a file that cannot be used        the earlier values stay; one error in the log
 *
 * Flags and variables still come before the file, so a change of an option that they give has no effect.
 */
import type { Logger } from '../base/log.ts';
import { ReloadedFiles } from '../base/reloaded-files.ts';
import { type LoadedConfig, parseConfig } from './load-config.ts';
import { type Config, flagOf, optionTable } from './options.ts';
import type { OptionDefinition } from './table/option-definition.ts';

/** Milliseconds between two looks at the file. */
const lookMs = 5000;

/** The state of the configuration file. */
export interface ConfigFacts {
  /** Changed options that are used after a restart. */
  readonly waiting: readonly string[];
  /** The file cannot be used since its last change. */
  readonly isRefused: boolean;
}

export class LiveConfig implements ConfigFacts {
  /** Live options have the newest values here, and all others those of the start. */
  readonly config: Config;
  readonly #files: ReloadedFiles<Config> | null;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | null = null;
  #isRefused = false;
  #waiting: readonly string[] = [];

  constructor({ config: first, sources, file }: LoadedConfig, log: Logger) {
    this.#log = log;
    this.#files =
      file === null
        ? null
        : new ReloadedFiles({
            what: 'configuration',
            files: [{ flag: '--config', path: file.path }],
            first: { texts: [file.text], value: first },
            load: ([text = '']) => parseConfig(sources, file.path, text),
            changed: () => this.#changed(),
            refused: () => {
              this.#isRefused = true;
            },
            log,
          });
    const live = Object.values(optionTable as Record<string, OptionDefinition>).filter((option) => option.live);
    const newest = (): Config => this.#files?.current ?? first;
    this.config = Object.defineProperties(
      { ...first },
      Object.fromEntries(live.map(({ key }) => [key, { get: () => newest()[key as keyof Config], enumerable: true }])),
    );
  }

  get waiting(): readonly string[] {
    return this.#waiting;
  }

  get isRefused(): boolean {
    return this.#isRefused;
  }

  /** Looks for a change of the file. */
  async look(): Promise<void> {
    await this.#files?.look();
  }

  /** Looks from time to time, until `close`. */
  watch(everyMs = lookMs): void {
    this.#timer = setInterval(() => void this.look(), everyMs);
    this.#timer.unref();
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  #changed(): void {
    this.#isRefused = false;
    const newest = this.#files?.current ?? this.config;
    const keys = Object.keys(newest) as (keyof Config)[];
    this.#waiting = keys.filter((key) => JSON.stringify(newest[key]) !== JSON.stringify(this.config[key])).map(flagOf);
    if (this.#waiting.length > 0) {
      this.#log.warn({ options: this.#waiting }, 'these changed options are used after a restart');
    }
  }
}
