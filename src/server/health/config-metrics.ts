/** Metrics of the configuration file of a running gateway. */
import { Gauge, type Registry } from 'prom-client';

/** See src/config/live-config.ts. */
export interface ConfigState {
  /** Changed options that are used after a restart. */
  readonly waiting: readonly string[];
  /** The file cannot be used since its last change. */
  readonly isRefused: boolean;
}

export class ConfigMetrics {
  readonly #waiting: Gauge;
  readonly #refused: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#waiting = new Gauge({
      name: 'portolan_config_restart_needed',
      help: '1 while the configuration file has changed options that are used after a restart.',
      registers,
    });
    this.#refused = new Gauge({
      name: 'portolan_config_refused',
      help: '1 while the configuration file cannot be used since its last change. The earlier values stay in use.',
      registers,
    });
  }

  set({ waiting, isRefused }: ConfigState): void {
    this.#waiting.set(waiting.length > 0 ? 1 : 0);
    this.#refused.set(isRefused ? 1 : 0);
  }
}
