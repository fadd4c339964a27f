/** The times of a supervisor, in milliseconds. */
export interface SupervisorSettings {
  /** Between rounds; each is up to a fifth shorter or longer. */
  readonly rediscoverMs: number;
  /** From a change of what is served to the round that looks at it. */
  readonly debounceMs: number;
  /** After which a cluster that has not answered yet counts as tried: a start does not wait longer for its catalog. */
  readonly patienceMs: number;
  /** That another schema of a group version must have stood before it is taken. */
  readonly schemaStableMs: number;
  /** To the rounds that follow a round for a change. */
  readonly settleMs: readonly number[];
}

export const defaultSupervisorSettings: SupervisorSettings = {
  rediscoverMs: 60_000,
  debounceMs: 1000,
  patienceMs: 5000,
  schemaStableMs: 300_000,
  settleMs: [1000, 2000, 5000, 10_000],
};
