/** Health rules as data: what a file declares, and what the description of a kind carries. Plain JSON. */
import type { HealthStatus } from './health-status.ts';

/** A condition on the values at a path. Texts are in lower case. */
export interface HealthTest {
  /** Canonical text of a Path. */
  readonly path: string;
  /** One value equals one of these texts. */
  readonly oneOf?: readonly string[];
  /** No value equals one of these texts. */
  readonly noneOf?: readonly string[];
  /** One value begins with one of these texts. */
  readonly startsWith?: readonly string[];
  /** Is there a value that is not null? */
  readonly exists?: boolean;
  /** A number, or the path of one. Absent numbers count as 0. */
  readonly lessThan?: number | string;
  readonly greaterThan?: number | string;
}

/** A row of a decision table. */
export interface HealthCase {
  readonly status: HealthStatus;
  /** All must hold. */
  readonly when: readonly HealthTest[];
  /** A path, or the reason itself: one word in CamelCase. Absent: from the first test. */
  readonly reason?: string;
  /** A path. Absent: from the first test, if that is of a condition. */
  readonly message?: string;
}

/** The rule that one file has for a kind. */
export interface DeclaredHealth {
  readonly source: 'CONFIGURED' | 'SHIPPED';
  /** The first that holds decides. If none does, the next rule is asked. */
  readonly cases: readonly HealthCase[];
}

/** The declared rules of one kind, in the order in which they are asked. */
export type HealthRules = readonly DeclaredHealth[];
