/** Timings of a supervisor, in milliseconds. */
export interface SupervisorSettings {
  /** Interval between rounds; each is up to a fifth shorter or longer. */
  readonly rediscoverMs: number;
  /** Delay from a change of the served resources to the next round. */
  readonly debounceMs: number;
  /** Time after which a cluster that has not responded counts as tried. A start does not wait longer for its catalog. */
  readonly patienceMs: number;
  /** Time for which a changed schema of a group version must stay the same before its kinds are described again. */
  readonly schemaStableMs: number;
  /** Delays of the extra rounds after the round for a change. */
  readonly settleMs: readonly number[];
}

export const defaultSupervisorSettings: SupervisorSettings = {
  rediscoverMs: 60_000,
  debounceMs: 1000,
  patienceMs: 5000,
  schemaStableMs: 300_000,
  settleMs: [1000, 2000, 5000, 10_000],
};
