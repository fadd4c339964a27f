/** Metrics of the checks whether the API server allows what roles grant. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** The checks so far; see src/auth/rights/rights-check.ts. */
export interface RightsChecks {
  readonly checked: number;
  readonly alarmed: boolean;
}

export class RightsMetrics {
  readonly #checked: Counter;
  readonly #alarmed: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#checked = new Counter({
      name: 'portolan_rights_checks_total',
      help: 'Grants of roles and bindings that were compared with the API server.',
      registers,
    });
    this.#alarmed = new Gauge({
      name: 'portolan_rights_alarm',
      help: '1 after an API server has refused what its roles and bindings grant. Rights in that cluster are reviewed since then.',
      registers,
    });
  }

  set({ checked, alarmed }: RightsChecks): void {
    this.#checked.reset();
    this.#checked.inc(checked);
    this.#alarmed.set(alarmed ? 1 : 0);
  }
}
