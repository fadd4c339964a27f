/** The columns of Nodes, Namespaces, configuration, quotas, leases, priorities and the server's own flow control. */

import { list } from '../../base/json.ts';
import { type BuiltInColumn, column, since, wide } from './built-in-column.ts';
import { at, count, entries, flag, isPresent, memberOf, ofType, size, text, textOr } from './cell-values.ts';
import { age, createdAt, name } from './common-columns.ts';

type Columns = readonly BuiltInColumn[];

const none = '<none>';

/** The last condition Ready decides. */
function nodeStatus(conditions: unknown, unschedulable: unknown): string {
  const ready = list(conditions).findLast((each) => memberOf(each, 'type') === 'Ready');
  const status = ready === undefined ? 'Unknown' : memberOf(ready, 'status') === 'True' ? 'Ready' : 'NotReady';
  return flag(unschedulable) ? `${status},SchedulingDisabled` : status;
}

const rolePrefix = 'node-role.kubernetes.io/';

function nodeRoles(labels: unknown): string {
  const roles = entries(labels).map(([key, value]) => {
    if (key.startsWith(rolePrefix)) return key.slice(rolePrefix.length);
    return key === 'kubernetes.io/role' ? text(value) : '';
  });
  return [...new Set(roles.filter((role) => role !== ''))].sort().join(',') || none;
}

function nodeAddress(type: string): (addresses: unknown) => string {
  return (addresses) => {
    const found = ofType(addresses, type);
    return found === undefined ? none : text(memberOf(found, 'address'));
  };
}

const unknown = textOr('<unknown>');

const nodes: Columns = [
  name,
  column('Status', 'string', 'status.conditions spec.unschedulable', nodeStatus),
  column('Roles', 'string', 'metadata.labels', nodeRoles),
  age,
  column('Version', 'string', 'status.nodeInfo.kubeletVersion', text),
  ...wide(
    column('Internal-IP', 'string', 'status.addresses', nodeAddress('InternalIP')),
    column('External-IP', 'string', 'status.addresses', nodeAddress('ExternalIP')),
    column('OS-Image', 'string', 'status.nodeInfo.osImage', unknown),
    column(
      'Kernel-Version',
      'string',
      'status.nodeInfo.kernelVersion status.nodeInfo.architecture',
      (version, architecture) =>
        text(architecture) === '' ? unknown(version) : `${unknown(version)} (${text(architecture)})`,
    ),
    column('Container-Runtime', 'string', 'status.nodeInfo.containerRuntimeVersion', unknown),
  ),
];

function healthyCondition(conditions: unknown): unknown {
  return ofType(conditions, 'Healthy');
}

const componentStatuses: Columns = [
  name,
  column('Status', 'string', 'conditions', (conditions) => {
    const condition = healthyCondition(conditions);
    if (condition === undefined) return 'Unknown';
    return memberOf(condition, 'status') === 'True' ? 'Healthy' : 'Unhealthy';
  }),
  column('Message', 'string', 'conditions', (conditions) => text(memberOf(healthyCondition(conditions), 'message'))),
  column('Error', 'string', 'conditions', (conditions) => text(memberOf(healthyCondition(conditions), 'error'))),
];

/** `pods: 1/4, requests.cpu: 0/2`: what is used of the resources that are limits, or that are none. */
function quotaText(ofLimits: boolean): (hard: unknown, used: unknown) => string {
  return (hard, used) =>
    entries(hard)
      .filter(([resource]) => resource.startsWith('limits.') === ofLimits)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([resource, limit]) => `${resource}: ${text(memberOf(used, resource)) || '0'}/${text(limit)}`)
      .join(', ');
}

const resourceQuotas: Columns = [
  name,
  column('Request', 'string', 'status.hard status.used', quotaText(false)),
  column('Limit', 'string', 'status.hard status.used', quotaText(true)),
  age,
];

const priorityClasses: Columns = [
  name,
  column('Value', 'integer', 'value', count),
  column('Global-Default', 'boolean', 'globalDefault', flag),
  age,
  column('PreemptionPolicy', 'string', 'preemptionPolicy', text),
];

const flowSchemas: Columns = [
  name,
  column('PriorityLevel', 'string', 'spec.priorityLevelConfiguration.name', text),
  column('MatchingPrecedence', 'integer', 'spec.matchingPrecedence', count),
  column('DistinguisherMethod', 'string', 'spec.distinguisherMethod', (method) =>
    isPresent(method) ? text(memberOf(method, 'type')) : none,
  ),
  age,
  column('MissingPL', 'string', 'status.conditions', (conditions) => {
    const dangling = ofType(conditions, 'Dangling');
    return dangling === undefined ? '?' : text(memberOf(dangling, 'status'));
  }),
];

/** A number of the settings at the path, as text. */
function setting(title: string, path: string): BuiltInColumn {
  const [parent = '', field = ''] = [path.slice(0, path.lastIndexOf('.')), path.slice(path.lastIndexOf('.') + 1)];
  return column(title, 'string', parent, (settings) =>
    isPresent(settings) ? String(count(memberOf(settings, field))) : none,
  );
}

const priorityLevels: Columns = [
  name,
  column('Type', 'string', 'spec.type', text),
  since(
    'spec.limited.nominalConcurrencyShares',
    setting('NominalConcurrencyShares', 'spec.limited.nominalConcurrencyShares'),
  ),
  since(
    'spec.limited.assuredConcurrencyShares',
    setting('AssuredConcurrencyShares', 'spec.limited.assuredConcurrencyShares'),
  ),
  setting('Queues', 'spec.limited.limitResponse.queuing.queues'),
  setting('HandSize', 'spec.limited.limitResponse.queuing.handSize'),
  setting('QueueLengthLimit', 'spec.limited.limitResponse.queuing.queueLengthLimit'),
  age,
];

const leaseCandidates: Columns = [
  name,
  column('LeaseName', 'string', 'spec.leaseName', text),
  column('BinaryVersion', 'string', 'spec.binaryVersion', text),
  column('EmulationVersion', 'string', 'spec.emulationVersion', text),
  age,
];

/** One after the other as the server writes them: the last condition that is true decides. */
function migrationStatus(conditions: unknown): string {
  const types = ['Running', 'Failed', 'Succeeded'];
  const last = list(conditions).findLast(
    (each) => memberOf(each, 'status') === 'True' && types.includes(text(memberOf(each, 'type'))),
  );
  return last === undefined ? 'Unknown' : text(memberOf(last, 'type'));
}

const storageVersionMigrations: Columns = [
  { name: 'Name', type: 'string', priority: 0, from: name.from, cell: name.cell },
  column('Resource', 'string', 'spec.resource', (resource) => {
    const [plural, group] = [text(at(resource, 'resource')), text(at(resource, 'group'))];
    return group === '' ? plural : `${plural}.${group}`;
  }),
  column('Status', 'string', 'status.conditions', migrationStatus),
];

export const clusterColumns: Readonly<Record<string, Columns>> = {
  nodes,
  namespaces: [name, column('Status', 'string', 'status.phase', text), age],
  configmaps: [
    name,
    column('Data', 'integer', 'data binaryData', (data, binaryData) => size(data) + size(binaryData)),
    age,
  ],
  secrets: [name, column('Type', 'string', 'type', text), column('Data', 'integer', 'data', size), age],
  serviceaccounts: [name, age],
  componentstatuses: componentStatuses,
  resourcequotas: resourceQuotas,
  limitranges: [name, createdAt],
  'priorityclasses.scheduling.k8s.io': priorityClasses,
  'leases.coordination.k8s.io': [name, column('Holder', 'string', 'spec.holderIdentity', text), age],
  'leasecandidates.coordination.k8s.io': leaseCandidates,
  'runtimeclasses.node.k8s.io': [name, column('Handler', 'string', 'handler', text), age],
  'flowschemas.flowcontrol.apiserver.k8s.io': flowSchemas,
  'prioritylevelconfigurations.flowcontrol.apiserver.k8s.io': priorityLevels,
  'storageversionmigrations.storagemigration.k8s.io': storageVersionMigrations,
};
