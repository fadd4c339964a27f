/** What a fuzzer is to its runner. */

export interface FuzzOptions {
  /** The number of the first case. */
  readonly from: number;
  readonly cases: number;
  readonly seed: number;
  /** Called after each case. */
  readonly progress: (asked: number, failed: number) => void;
}

export interface FuzzOutcome {
  readonly asked: number;
  readonly failures: readonly { readonly number: number; readonly what: string }[];
  /** What it was played on, in a few words. */
  readonly about: string;
}

export interface Fuzzer {
  /** One sentence. */
  readonly about: string;
  readonly defaultCases: number;
  /** Plays the cases; the same seed and number make the same case. */
  fuzz(options: FuzzOptions): Promise<FuzzOutcome>;
}
