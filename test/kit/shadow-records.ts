/** ShadowRecords made by hand, as an apply of a set would have written them. And comparisons of the sets in clients. */
import type { KubernetesObject } from '@kubernetes/client-node';
import { setManager } from '../../src/sets/record/set-names.ts';
import type { ControlPlane } from './control-plane.ts';
import { manifestList } from './manifests.ts';

export interface LiveObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly managedFields?: readonly { readonly manager: string; readonly fieldsV1: object }[];
  };
}

export interface HandMadeSet {
  readonly namespace: string;
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly generation?: number;
  readonly phase?: string;
}

/** The plurals of the kinds that tests use. */
const plurals: Readonly<Record<string, string>> = {
  Pod: 'pods',
  Secret: 'secrets',
  Gadget: 'gadgets',
  ConfigMap: 'configmaps',
  Service: 'services',
  Deployment: 'deployments',
};

/** The members of a record for these objects, with the fields that the manager of the set has applied. */
export function membersOf(set: HandMadeSet, objects: readonly LiveObject[]): readonly object[] {
  return objects.map(({ apiVersion, kind, metadata: { name, namespace, uid, managedFields = [] } }) => {
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const fields = managedFields.find(({ manager }) => manager === setManager(set))?.fieldsV1;
    return {
      // Absent for the core group, as Portolan writes it. Kubernetes 1.20 takes an empty text for null.
      ...(group === '' ? {} : { group }),
      version,
      kind,
      resource: plurals[kind],
      namespace,
      name,
      uid,
      ...(fields === undefined ? {} : { fields: withNamespace(fields) }),
    };
  });
}

/** The fields of a manifest that names its namespace. */
function withNamespace(fields: object): object {
  const { 'f:metadata': metadata } = fields as Readonly<Record<string, object | undefined>>;
  return { ...fields, 'f:metadata': { ...metadata, 'f:namespace': {} } };
}

/** The record as an object of the cluster. */
export function handMadeRecord(set: HandMadeSet, members: readonly object[]): object {
  const { namespace, name, labels, generation = 1, phase = 'Applied' } = set;
  return {
    apiVersion: 'portolan.dev/v1alpha1',
    kind: 'ShadowRecord',
    metadata: { namespace, name, ...(labels === undefined ? {} : { labels }) },
    spec: { generation, phase, members },
  };
}

/** Applies the manifests as the manager of the set, and writes its record. */
export async function makeSet(plane: ControlPlane, set: HandMadeSet, manifests: readonly object[]): Promise<void> {
  const applied = await plane.kubectl(
    [
      'apply',
      '--server-side',
      '--force-conflicts',
      `--field-manager=${setManager(set)}`,
      '--show-managed-fields',
      '-o',
      'json',
      '-f',
      '-',
    ],
    manifestList(manifests),
  );
  const answer = JSON.parse(applied) as LiveObject & { readonly items?: readonly LiveObject[] };
  const record = handMadeRecord(set, membersOf(set, answer.items ?? [answer]));
  await plane.kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(record));
}

/** A set in a client. */
export interface ShadowObject extends KubernetesObject {
  readonly spec?: unknown;
  readonly status?: unknown;
}

/** The parts of sets that are equal in clients with the same sets, in the order of names. */
export function shownSets(items: readonly ShadowObject[]): readonly object[] {
  return items
    .map(({ metadata, spec, status }) => ({
      name: metadata?.name,
      uid: metadata?.uid,
      labels: metadata?.labels,
      spec,
      status,
    }))
    .toSorted((a, b) => (String(a.name) < String(b.name) ? -1 : 1));
}

/** A ConfigMap with one value. */
export function configMap(name: string, value: number): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace: 'default' },
    data: { value: String(value) },
  };
}

/** A Pod with one container. */
export function nginxPod(name: string, annotations: Readonly<Record<string, string>> = {}): object {
  const metadata = { name, namespace: 'default', ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'nginx', image: 'nginx' }] } };
}

/** What the store has of a set: its record and the Pods that are its members. */
export interface StoredSetGiven {
  readonly name: string;
  readonly namespace?: string;
  readonly rv: number;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly members?: readonly string[];
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** A record in the store whose members are Pods and Secrets, with a field each: `Pod/a`, `Secret/b`. */
export function storedRecord({
  name,
  namespace = 'shop',
  rv,
  uid,
  labels,
  members = [],
  spec = {},
}: StoredSetGiven): object {
  return {
    apiVersion: 'portolan.dev/v1alpha1',
    kind: 'ShadowRecord',
    metadata: {
      ...{ name, namespace, uid: uid ?? `uid-of-${name}`, resourceVersion: String(rv) },
      creationTimestamp: '2026-01-31T12:00:00Z',
      ...(labels === undefined ? {} : { labels }),
    },
    spec: {
      generation: 1,
      phase: 'Applied',
      members: members.map((member) => {
        const [kind = '', of = ''] = member.split('/');
        const fields = withNamespace({ 'f:spec': { 'f:note': {} }, 'f:data': {} });
        return {
          group: '',
          version: 'v1',
          kind,
          resource: plurals[kind],
          namespace,
          name: of,
          uid: `uid-${namespace}-${of}`,
          fields,
        };
      }),
      ...spec,
    },
  };
}
