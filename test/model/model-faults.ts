/**
 * Which fault strikes next. A run has some of the faults, chosen by its seed; while they are on, each request and each line may meet one.
 * How often each has struck is counted for all runs of a process, so that a test can see that all are met.
 */
import type { Random } from '../../src/base/clock.ts';

export const allFaults = [
  ...['F1', 'F2', 'F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'F9', 'F10', 'F11', 'F12', 'F15', 'F16', 'F17', 'F18', 'F19'],
  ...['F20', 'F21', 'F22', 'F23', 'F24', 'F25', 'F26', 'F27', 'F28', 'F29', 'F30', 'F31', 'F32', 'F33', 'F34', 'F35'],
  ...['F36', 'F37', 'F38', 'F40', 'F41', 'F42', 'F43', 'F44', 'F45', 'F47', 'F50', 'F52', 'F54'],
  // Beside the catalogue: an event that no watch is ever told of, which only an audit finds.
  ...['R24'],
] as const;

export type FaultName = (typeof allFaults)[number];

/** Strikes of all runs of this process. */
export const strikes = new Map<FaultName, number>();

export class ModelFaults {
  /** False: nothing goes wrong any more. */
  on = true;
  readonly #random: Random;
  /** What happens more seldom than this, happens as often. */
  readonly #rarest: number;
  readonly #chosen: ReadonlySet<FaultName>;
  readonly #struck: FaultName[] = [];

  /** With `only` the run has these and no others. */
  constructor(random: Random, only?: readonly FaultName[]) {
    this.#random = random;
    this.#rarest = only === undefined ? Number.POSITIVE_INFINITY : 4;
    this.#chosen = new Set(only ?? allFaults.filter(() => random() < 0.4));
  }

  has(name: FaultName): boolean {
    return this.#chosen.has(name);
  }

  /** In the order of striking. */
  get struck(): readonly FaultName[] {
    return this.#struck;
  }

  /** One of these that this run has, once in `times`; null for none. */
  pick<N extends FaultName>(names: readonly N[], times: number): N | null {
    if (!this.on || this.#random() * Math.min(times, this.#rarest) >= 1) return null;
    const possible = names.filter((name) => this.#chosen.has(name));
    return possible[Math.floor(this.#random() * possible.length)] ?? null;
  }

  /** The same of one fault; counts it. */
  strikes(name: FaultName, times: number): boolean {
    if (this.pick([name], times) === null) return false;
    this.count(name);
    return true;
  }

  count(name: FaultName): void {
    this.#struck.push(name);
    strikes.set(name, (strikes.get(name) ?? 0) + 1);
  }
}
