/**
 * The most visible of the defaults that the server sets in built-in kinds on create and update.
 * Pure: a changed object is a new one.
 */
import { asArray, asObject, asString, isObject, type JsonObject } from '../objects/json.ts';

type Rule = (object: JsonObject, creating: boolean) => JsonObject;

const fill = (defaults: JsonObject, value: unknown): JsonObject => ({ ...defaults, ...asObject(value) });

function containers(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return value.map((item) => {
    if (!isObject(item)) return item;
    const image = asString(item.image);
    const latest = image.endsWith(':latest') || !/[:@]/.test(image.slice(image.lastIndexOf('/') + 1));
    const out = fill(
      {
        resources: {},
        terminationMessagePath: '/dev/termination-log',
        terminationMessagePolicy: 'File',
        imagePullPolicy: latest ? 'Always' : 'IfNotPresent',
      },
      item,
    );
    if (Array.isArray(out.ports)) out.ports = out.ports.map((port) => fill({ protocol: 'TCP' }, port));
    return out;
  });
}

function podSpec(value: unknown): JsonObject {
  const spec = fill(
    {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      securityContext: {},
      schedulerName: 'default-scheduler',
    },
    value,
  );
  spec.containers = containers(spec.containers);
  if (spec.initContainers !== undefined) spec.initContainers = containers(spec.initContainers);
  return spec;
}

/** Fields that admission adds to a new pod: tolerations for node conditions, priority, service links, preemption policy. */
function admittedPod(spec: JsonObject): JsonObject {
  const tolerations = [...asArray(spec.tolerations)];
  for (const key of ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable']) {
    if (tolerations.some((item) => asObject(item).key === key)) continue;
    tolerations.push({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 });
  }
  return fill(
    { priority: 0, enableServiceLinks: true, preemptionPolicy: 'PreemptLowerPriority' },
    { ...spec, tolerations },
  );
}

function withTemplate(spec: JsonObject): JsonObject {
  if (!isObject(spec.template)) return spec;
  return { ...spec, template: { ...spec.template, spec: podSpec(spec.template.spec) } };
}

function qosClass(spec: JsonObject): string {
  let some = false;
  let guaranteed = true;
  for (const item of asArray(spec.containers)) {
    const { limits, requests } = asObject(asObject(item).resources);
    some ||= Object.keys(asObject(limits)).length + Object.keys(asObject(requests)).length > 0;
    guaranteed &&= ['cpu', 'memory'].every((name) => {
      const limit = asObject(limits)[name];
      return limit !== undefined && (asObject(requests)[name] ?? limit) === limit;
    });
  }
  return guaranteed && some ? 'Guaranteed' : some ? 'Burstable' : 'BestEffort';
}

const workload =
  (defaults: JsonObject): Rule =>
  (object) => ({ ...object, spec: withTemplate(fill(defaults, object.spec)), status: asObject(object.status) });

const rollingPercent = { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' } };

const rules: Readonly<Record<string, Rule>> = {
  Event: (object) =>
    fill(
      {
        source: {},
        firstTimestamp: null,
        lastTimestamp: null,
        eventTime: null,
        reportingComponent: '',
        reportingInstance: '',
      },
      object,
    ),
  Namespace: (object, creating) => {
    const metadata = asObject(object.metadata);
    const labels = fill({ 'kubernetes.io/metadata.name': metadata.name }, metadata.labels);
    if (!creating) return { ...object, metadata: { ...metadata, labels } };
    return {
      ...object,
      metadata: { ...metadata, labels },
      spec: { finalizers: ['kubernetes'] },
      status: { phase: 'Active' },
    };
  },
  Node: (object) => {
    const { unschedulable, ...spec } = asObject(object.spec);
    return { ...object, spec: unschedulable === true ? { ...spec, unschedulable } : spec };
  },
  Pod: (object, creating) => {
    const spec = creating ? admittedPod(podSpec(object.spec)) : podSpec(object.spec);
    return {
      ...object,
      spec,
      status: creating ? fill({ phase: 'Pending', qosClass: qosClass(spec) }, object.status) : object.status,
    };
  },
  Deployment: workload({
    replicas: 1,
    strategy: rollingPercent,
    revisionHistoryLimit: 10,
    progressDeadlineSeconds: 600,
  }),
  ReplicaSet: (object) => workload({ replicas: 1 })({ ...object, status: fill({ replicas: 0 }, object.status) }, false),
  StatefulSet: (object) =>
    workload({
      replicas: 1,
      podManagementPolicy: 'OrderedReady',
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 0 } },
      revisionHistoryLimit: 10,
    })({ ...object, status: fill({ replicas: 0 }, object.status) }, false),
  DaemonSet: workload({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } },
    revisionHistoryLimit: 10,
  }),
  Job: workload({ parallelism: 1, completions: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false }),
  CronJob: (object) => ({
    ...object,
    spec: fill(
      { concurrencyPolicy: 'Allow', suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
      object.spec,
    ),
    status: asObject(object.status),
  }),
  Service: (object) => {
    const spec = fill({ type: 'ClusterIP', sessionAffinity: 'None', internalTrafficPolicy: 'Cluster' }, object.spec);
    if (Array.isArray(spec.ports)) {
      spec.ports = spec.ports.map((port) => fill({ protocol: 'TCP', targetPort: asObject(port).port }, port));
    }
    if (asString(spec.clusterIP) !== '') spec.clusterIPs ??= [spec.clusterIP];
    return { ...object, spec, status: fill({ loadBalancer: {} }, object.status) };
  },
  Secret: (object) => {
    const { stringData, ...rest } = object;
    const data = asObject(rest.data);
    const encoded = Object.entries(asObject(stringData)).map(([key, value]) => [
      key,
      Buffer.from(asString(value)).toString('base64'),
    ]);
    const out: JsonObject = { ...rest, type: asString(rest.type) || 'Opaque' };
    if (encoded.length > 0) out.data = { ...data, ...Object.fromEntries(encoded) };
    return out;
  },
  PersistentVolumeClaim: (object, creating) => ({
    ...object,
    spec: fill({ volumeMode: 'Filesystem' }, object.spec),
    status: creating ? fill({ phase: 'Pending' }, object.status) : object.status,
  }),
  PersistentVolume: (object, creating) => ({
    ...object,
    spec: fill({ volumeMode: 'Filesystem', persistentVolumeReclaimPolicy: 'Retain' }, object.spec),
    status: creating ? fill({ phase: 'Pending' }, object.status) : object.status,
  }),
  StorageClass: (object) => fill({ reclaimPolicy: 'Delete', volumeBindingMode: 'Immediate' }, object),
  CustomResourceDefinition: (object) => {
    const spec = fill({ conversion: { strategy: 'None' } }, object.spec);
    const names = asObject(spec.names);
    const kind = asString(names.kind);
    spec.names = fill({ singular: kind.toLowerCase(), listKind: `${kind}List` }, names);
    return { ...object, spec };
  },
};

/** The object with the defaults of its kind. */
export function defaultBuiltin(kind: string, object: JsonObject, creating: boolean): JsonObject {
  const rule = rules[kind];
  return rule ? rule(object, creating) : object;
}
