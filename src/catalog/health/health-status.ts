/** Health statuses: those of kstatus, and Suspended, which only rules and the convention give. */
export const healthStatuses = ['Current', 'InProgress', 'Failed', 'Suspended', 'Terminating', 'Unknown'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

/** The statuses from the best to the worst. The index of a status is its severity. */
export const bySeverity: readonly HealthStatus[] = [
  'Current',
  'Suspended',
  'Terminating',
  'InProgress',
  'Unknown',
  'Failed',
];

/** Is the health of one object worse than that of another? */
export function isWorse(status: HealthStatus, than: HealthStatus): boolean {
  return bySeverity.indexOf(status) > bySeverity.indexOf(than);
}

/** The rules that may decide, in their order (health.ts). */
export const healthSources = [
  'DELETION',
  'GENERATION',
  'RECONCILING',
  'CONFIGURED',
  'SHIPPED',
  'BUILT_IN',
  'READY',
  'CONVENTION',
  'DEFAULT',
  'INVALID',
] as const;
export type HealthSource = (typeof healthSources)[number];

/** The result of a rule. */
export interface Finding {
  readonly status: HealthStatus;
  /** Why the object is not Current, as one word in CamelCase. Null for Current and Terminating, and for a condition without a reason. */
  readonly reason: string | null;
  /** The text for people beside the reason. Null for Current and Terminating, and where the object has none. */
  readonly message: string | null;
}

export interface Health extends Finding {
  readonly source: HealthSource;
}

/** The members of a condition that the rules read. An absent member is the empty text. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
}

/** Longest text that is kept. Whole messages are in the object. */
const mostReason = 256;
const mostMessage = 1024;

export const current: Finding = Object.freeze({ status: 'Current', reason: null, message: null });
export const terminating: Finding = Object.freeze({ status: 'Terminating', reason: null, message: null });
/** The status cannot be read: a member has another type than Kubernetes' conventions require. */
export const unreadable: Finding = Object.freeze({ status: 'Unknown', reason: 'InvalidStatus', message: null });

/** A finding with these texts, as far as its status has them. */
export function finding(status: HealthStatus, reason: string, message = ''): Finding {
  if (status === 'Current') return current;
  if (status === 'Terminating') return terminating;
  return { status, reason: shortened(reason, mostReason), message: shortened(message, mostMessage) };
}

/** A controller still works on the object. */
export function inProgress(reason: string, message?: string): Finding {
  return finding('InProgress', reason, message);
}

/** A controller failed, or gave up. */
export function failed(reason: string, message?: string): Finding {
  return finding('Failed', reason, message);
}

function shortened(text: string, most: number): string | null {
  if (text === '') return null;
  return (text.length <= most ? text : `${text.slice(0, most - 1)}…`).toWellFormed();
}
