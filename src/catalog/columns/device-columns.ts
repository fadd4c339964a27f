/** The columns of devices that Pods claim (resource.k8s.io), and of groups of Pods that are scheduled together. */
import { type BuiltInColumn, column } from './built-in-column.ts';
import { isPresent, memberOf, size, text, time } from './cell-values.ts';
import { age, name } from './common-columns.ts';

type Columns = readonly BuiltInColumn[];

function claimState(allocation: unknown, reservedFor: unknown, deletionTimestamp: unknown): string {
  const isDeleted = isPresent(deletionTimestamp);
  if (!isPresent(allocation)) return isDeleted ? 'deleted' : 'pending';
  return `${isDeleted ? 'deleted,' : ''}allocated${size(reservedFor) > 0 ? ',reserved' : ''}`;
}

const claims: Columns = [
  name,
  column('State', 'string', 'status.allocation status.reservedFor metadata.deletionTimestamp', claimState),
  age,
];

const slices: Columns = [
  name,
  column('Node', 'string', 'spec.nodeName', text),
  column('Driver', 'string', 'spec.driver', text),
  column('Pool', 'string', 'spec.pool.name', text),
  age,
];

const taintRules: Columns = [
  name,
  column('Key', 'string', 'spec.taint.key', text),
  column('Value', 'string', 'spec.taint.value', text),
  column('Effect', 'string', 'spec.taint.effect', text),
  column('TimeAdded', 'date', 'spec.taint.timeAdded', time),
  age,
];

const policy = column('Policy', 'string', 'spec.schedulingPolicy.gang', (gang) => (isPresent(gang) ? 'Gang' : 'Basic'));

const workload = column('Workload', 'string', 'spec.workloadRef', (reference) =>
  isPresent(reference) ? text(memberOf(reference, 'workloadName')) : '<none>',
);

const devices = 'resource.k8s.io';

export const deviceColumns: Readonly<Record<string, Columns>> = {
  [`deviceclasses.${devices}`]: [name, age],
  [`resourceclaims.${devices}`]: claims,
  [`resourceclaimtemplates.${devices}`]: [name, age],
  [`resourceslices.${devices}`]: slices,
  [`devicetaintrules.${devices}`]: taintRules,
  'workloads.scheduling.k8s.io': [name, age],
  'compositepodgroups.scheduling.k8s.io': [name, policy, workload, age],
};
