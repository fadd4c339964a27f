/** Health statuses, with the names of kstatus. */

export const healthStatuses = ['Current', 'InProgress', 'Failed', 'Terminating', 'Unknown'] as const;
export type HealthStatus = (typeof healthStatuses)[number];

export interface Health {
  readonly status: HealthStatus;
  /** Why the object is not Current, as one word in CamelCase. Null for Current and Terminating, and for a condition without a reason. */
  readonly reason: string | null;
}

/** The members of a condition that the rules read. An absent member is the empty text. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

export const current: Health = Object.freeze({ status: 'Current', reason: null });
/** The status cannot be read: a member has another type than Kubernetes' conventions require. */
export const unknown: Health = Object.freeze({ status: 'Unknown', reason: 'InvalidStatus' });

/** A controller still works on the object. */
export function inProgress(reason: string): Health {
  return { status: 'InProgress', reason: reason === '' ? null : reason.toWellFormed() };
}

/** A controller failed, or gave up. */
export function failed(reason: string): Health {
  return { status: 'Failed', reason: reason === '' ? null : reason.toWellFormed() };
}
