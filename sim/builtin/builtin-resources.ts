/** The built-in resources, made from the schema tables. */
import { must } from '../../src/base/must.ts';
import { at } from '../objects/json.ts';
import type { View } from '../objects/object-store.ts';
import { allVerbs, type ScalePaths, type ServedResource } from '../resources/served-resource.ts';
import { builtinSchema } from '../schema/builtin-schema.ts';
import type { BuiltinKind } from '../schema/notation.ts';
import { eventsV1ToCore, eventsV1View } from './event-conversion.ts';

const plain: View = { convert: (object) => object, text: JSON.stringify };
/** For objects that are computed for each request: their metadata has only a name. */
const computedView: View = {
  convert: (object) => ({ ...object, metadata: { name: at(object, 'metadata', 'name') } }),
  text: JSON.stringify,
};
const withGeneration = new Set([
  'Pod',
  'Deployment',
  'ReplicaSet',
  'StatefulSet',
  'DaemonSet',
  'Job',
  'CronJob',
  'Ingress',
  'IngressClass',
  'NetworkPolicy',
  'EndpointSlice',
  'PodDisruptionBudget',
  'PriorityClass',
  'CustomResourceDefinition',
]);
const involved = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];
const eventFields = (object: string): [string, string[]][] =>
  involved.map((field) => [`${object}.${field}`, ['involvedObject', field]]);

/** Field selectors by kind and, for Event, by group; paths are in the stored form. */
const selectable: Readonly<Record<string, [string, string[]][]>> = {
  Pod: [
    ['spec.nodeName', ['spec', 'nodeName']],
    ['spec.restartPolicy', ['spec', 'restartPolicy']],
    ['spec.schedulerName', ['spec', 'schedulerName']],
    ['spec.serviceAccountName', ['spec', 'serviceAccountName']],
    ['spec.hostNetwork', ['spec', 'hostNetwork']],
    ['status.phase', ['status', 'phase']],
    ['status.podIP', ['status', 'podIP']],
    ['status.nominatedNodeName', ['status', 'nominatedNodeName']],
  ],
  Node: [['spec.unschedulable', ['spec', 'unschedulable']]],
  Namespace: [['status.phase', ['status', 'phase']]],
  Secret: [['type', ['type']]],
  ReplicaSet: [['status.replicas', ['status', 'replicas']]],
  Job: [['status.successful', ['status', 'succeeded']]],
  'Event.': [
    ...eventFields('involvedObject'),
    ['reason', ['reason']],
    ['type', ['type']],
    ['source', ['source', 'component']],
  ],
  'Event.events.k8s.io': [...eventFields('regarding'), ['reason', ['reason']], ['type', ['type']]],
};

const replicas: ScalePaths = {
  specReplicas: ['spec', 'replicas'],
  statusReplicas: ['status', 'replicas'],
  selector: undefined,
};

function resourceOf(kind: BuiltinKind): ServedResource {
  const schema = builtinSchema();
  const computed = kind.kind === 'ComponentStatus';
  const isNewEvent = kind.kind === 'Event' && kind.group === 'events.k8s.io';
  const storage = isNewEvent || kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
  const fields = selectable[kind.kind] ?? selectable[`${kind.kind}.${kind.group}`] ?? [];
  return {
    group: kind.group,
    version: kind.version,
    plural: kind.plural,
    singular: kind.kind.toLowerCase(),
    kind: kind.kind,
    listKind: `${kind.kind}List`,
    namespaced: kind.namespaced,
    shortNames: kind.shortNames,
    categories: kind.categories,
    verbs: kind.bare ? ['create'] : (kind.verbs ?? allVerbs),
    storage,
    view: isNewEvent ? eventsV1View : computed ? computedView : plain,
    computed,
    toStorage: isNewEvent ? eventsV1ToCore : (object) => object,
    custom: false,
    bare: kind.bare,
    statusSubresource: kind.subresources.includes('status'),
    subresources: kind.subresources,
    scale: kind.subresources.includes('scale') ? replicas : undefined,
    hasGeneration: withGeneration.has(kind.kind),
    selectableFields: new Map(fields),
    printerColumns: undefined,
    schema: { root: schema.definitions[kind.definition] ?? {}, definitions: schema.definitions, open: true },
    definition: kind.definition,
  };
}

/** One ServedResource for each built-in kind, in the order of the tables. */
export function builtinResources(): ServedResource[] {
  return builtinSchema()
    .kinds.filter((kind) => !kind.part)
    .map(resourceOf);
}

const parts = new Map<string, ServedResource>();

/** The kind of a subresource, as if a resource had it: the form in which its body is checked. */
export function subresourceKind(name: 'Scale' | 'Eviction'): ServedResource {
  const known = parts.get(name);
  if (known) return known;
  const kind = builtinSchema().kinds.find((each) => each.part && each.kind === name);
  const made = resourceOf(must(kind, `the kind ${name} in the tables`));
  parts.set(name, made);
  return made;
}
