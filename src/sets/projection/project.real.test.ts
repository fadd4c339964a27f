/**
 * The answer of an API server to an apply, projected on the fields of that apply, is the manifest again. Manifests are random, of several
 * kinds.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../../../test/kit/control-plane.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { describeOn, mainServer, oldServer } from '../../../test/kit/real-servers.ts';
import { connect } from '../../kube/client/connection.ts';
import { RestClient } from '../../kube/client/rest-client.ts';
import { resourcePath } from '../../kube/http/resource-path.ts';
import { recordSpec } from '../record/record-spec.ts';
import { applySetId, applySetLabels, ownerReferenceTo, recordMarks, setManager } from '../record/set-names.ts';
import { readSetRecord, recordResource } from '../record/set-record.ts';
import { shadowRecordCrdText } from '../record/shadow-record-crd.ts';
import { appliedFields } from './field-set.ts';
import { projectMember } from './project.ts';

type Json = Readonly<Record<string, unknown>>;

const set = { namespace: 'default', name: 'web' };
const manager = setManager(set);

const word = fc.stringMatching(/^[a-z]{1,6}$/);
/** Members that are there or not. */
const some = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model, { requiredKeys: [] });
const named = <T extends object>(arbitrary: fc.Arbitrary<T>, least = 0) =>
  fc.uniqueArray(
    fc.tuple(word, arbitrary).map(([name, rest]) => ({ name, ...rest })),
    { selector: ({ name }) => name, minLength: Math.max(least, 1), maxLength: 3 },
  );
const labels = fc.dictionary(word, word, { minKeys: 1, maxKeys: 3 });
const ports = fc.uniqueArray(
  fc
    .record(
      {
        containerPort: fc.integer({ min: 1, max: 3 }),
        protocol: fc.constantFrom('TCP', 'UDP'),
        name: fc.constantFrom(''),
      },
      { requiredKeys: ['containerPort'] },
    )
    .map(({ name: _name, ...port }) => port),
  { selector: ({ containerPort, protocol = 'TCP' }) => `${containerPort}/${protocol}`, minLength: 1, maxLength: 4 },
);
const probe = fc.record({ httpGet: fc.record({ path: fc.constant('/'), port: fc.constantFrom(80, 'http') }) });
const container = some({
  command: fc.array(word, { minLength: 1, maxLength: 3 }),
  env: named(fc.record({ value: word })),
  ports,
  resources: some({ limits: fc.constantFrom({ cpu: '1' }, { cpu: '250m', memory: '64Mi' }) }),
  readinessProbe: probe,
  securityContext: some({ runAsNonRoot: fc.boolean(), capabilities: fc.constant({ drop: ['ALL'] }) }),
  volumeMounts: fc.constant([{ name: 'tmp', mountPath: '/tmp' }]),
}).map((rest): Json => ({ image: 'registry.example/app:1', ...rest }));
const podSpec = fc
  .tuple(
    named(container),
    some({
      nodeSelector: labels,
      securityContext: some({ fsGroup: fc.constant(1) }),
      tolerations: fc.constant([{ key: 'a', operator: 'Exists' }]),
      terminationGracePeriodSeconds: fc.constantFrom(0, 5),
      hostAliases: fc.constant([{ ip: '10.0.0.1', hostnames: ['a'] }]),
    }),
  )
  .map(([containers, rest]): Json => ({ containers, ...rest, volumes: [{ name: 'tmp', emptyDir: {} }] }));
const metadata = some({ labels, annotations: labels, finalizers: fc.constant(['example.com/a', 'example.com/b']) });
const app = { app: 'x' };
const kinds: Readonly<Record<string, readonly [plural: string, apiVersion: string, body: fc.Arbitrary<object>]>> = {
  ConfigMap: ['configmaps', 'v1', some({ data: labels, immutable: fc.constant(false) })],
  Secret: ['secrets', 'v1', some({ data: fc.constant({ a: 'YQ==' }), type: fc.constant('Opaque') })],
  Service: [
    'services',
    'v1',
    fc.record({
      spec: fc.record(
        {
          selector: labels,
          ports: fc.uniqueArray(
            fc.record(
              {
                port: fc.integer({ min: 1, max: 4 }),
                name: word,
                targetPort: fc.constantFrom(80, 'http'),
                protocol: fc.constantFrom('TCP', 'UDP'),
              },
              // Without the protocol, servers before 1.22 answer 500.
              { requiredKeys: ['port', 'name', 'protocol'] },
            ),
            { selector: ({ port, name }) => [port, name].join(), comparator: shareOne, minLength: 1, maxLength: 3 },
          ),
          type: fc.constantFrom('ClusterIP', 'NodePort'),
        },
        { requiredKeys: ['ports'] },
      ),
    }),
  ],
  Pod: [
    'pods',
    'v1',
    // Admission adds tolerations to the list of a Pod, which has one owner as a whole.
    podSpec.map(({ tolerations: _tolerations, ...spec }) => ({ spec })),
  ],
  Deployment: [
    'deployments',
    'apps/v1',
    fc
      .record(
        {
          replicas: fc.constantFrom(0, 2),
          strategy: fc.constantFrom({}, { type: 'Recreate' }, { rollingUpdate: { maxSurge: 1 } }),
          spec: podSpec,
          minReadySeconds: fc.constant(3),
        },
        { requiredKeys: ['spec'] },
      )
      .map(({ spec, ...rest }) => ({
        spec: { ...rest, selector: { matchLabels: app }, template: { metadata: { labels: app }, spec } },
      })),
  ],
  StatefulSet: [
    'statefulsets',
    'apps/v1',
    // The list of claims has one owner, and the API server adds defaults to each claim. That of a field of the Pod gets its version.
    fc
      .uniqueArray(fc.tuple(word, some({ volumeMode: fc.constant('Block') })), {
        selector: ([name]) => name,
        minLength: 1,
        maxLength: 2,
      })
      .map((claims) => ({
        spec: {
          serviceName: 'x',
          selector: { matchLabels: app },
          volumeClaimTemplates: claims.map(([name, more]) => ({
            metadata: { name },
            spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...more },
          })),
          template: {
            metadata: { labels: app },
            spec: {
              containers: [
                {
                  ...{ name: 'main', image: 'registry.example/app:1' },
                  env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
                },
              ],
            },
          },
        },
      })),
  ],
  NetworkPolicy: [
    'networkpolicies',
    'networking.k8s.io/v1',
    fc
      .constantFrom({}, { matchLabels: app }, { matchExpressions: [{ key: 'a', operator: 'Exists' }] })
      .map((podSelector) => ({
        spec: {
          ...{ podSelector, policyTypes: ['Ingress'] },
          // The API server adds the protocol of a port.
          ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 80 }, { port: 53, protocol: 'UDP' }] }],
        },
      })),
  ],
  Gadget: [
    'gadgets',
    'example.com/v1',
    fc.record({
      spec: some({
        free: fc.constantFrom<unknown>({ a: { b: [1, { c: 2 }] } }, { list: ['x'] }),
        size: fc.integer({ min: 0, max: 9 }),
        parts: named(
          some({ weight: fc.integer({ min: 0, max: 3 }), tags: fc.uniqueArray(word, { minLength: 1, maxLength: 3 }) }),
        ),
        defaulted: some({ other: word }),
      }),
    }),
  ],
};

function shareOne(left: string, right: string): boolean {
  const [a, b] = [left.split(','), right.split(',')];
  return a[0] === b[0] || a[1] === b[1];
}

const gadgetCrd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'gadgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget', listKind: 'GadgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  size: { type: 'integer' },
                  free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                  defaulted: {
                    type: 'object',
                    properties: { mode: { type: 'string', default: 'fast' }, other: { type: 'string' } },
                  },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name', 'zone'],
                    items: {
                      type: 'object',
                      required: ['name', 'zone'],
                      properties: {
                        name: { type: 'string' },
                        zone: { type: 'string', default: 'a' },
                        weight: { type: 'integer' },
                        tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

/** Manifest lists by key: the API server keeps the elements that it had first. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) {
    const all = value.map(sorted);
    const isNamed = all.every((each) => typeof each === 'object' && each !== null);
    return isNamed ? all.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : all;
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([name, inner]) => [name, sorted(inner)] as const)
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
}

/** False and empty objects that the types of the API server leave out. */
const left = new Set(['immutable', 'resources', 'data']);
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value !== 'object' || value === null) return value;
  const isEmpty = (inner: unknown) =>
    inner === false || (typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) => (left.has(name) && isEmpty(inner) ? [] : [[name, normal(inner)]])),
  );
}

describeOn([mainServer, oldServer], 'the projection', { timeout: 120_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;
  const records = resourcePath(recordResource, set.namespace);

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    await plane.kubectl(['apply', '--warnings-as-errors', '-f', '-'], shadowRecordCrdText());
    await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', gadgetCrd);
    await eventually(async () => {
      await api.get('/apis/example.com/v1/gadgets');
      await api.get(records);
    });
  }, 120_000);
  afterAll(async () => {
    await api?.connection.close();
    await plane?.stop();
  });

  test('a record is kept as it is written', async () => {
    const members = [
      {
        group: 'apps',
        version: 'v1',
        kind: 'Deployment',
        resource: 'deployments',
        namespace: set.namespace,
        name: 'a',
        uid: 'u',
        fields: { 'f:spec': { '.': {}, 'k:{"name":"a"}': {} } },
        leaves: false,
      },
    ];
    const spec = { generation: 1, phase: 'Applying' as const, members, lastApplied: null };
    const body = {
      apiVersion: 'portolan.dev/v1alpha1',
      kind: 'ShadowRecord',
      metadata: { ...set, ...recordMarks(set, members, '1.0.0') },
      spec: recordSpec(spec),
    };
    const made = await api.post(records, body);
    expect(readSetRecord(made)).toMatchObject({ ...spec, ...set });
    expect(await plane.kubectl(['get', 'shadowrecords', '--no-headers'])).toMatch(/^web +Applying/);
    const wrong = { ...body, metadata: { name: 'other' }, spec: { generation: -1, phase: 'Applied' } };
    await expect(api.post(records, wrong)).rejects.toMatchObject({ code: 'INVALID' });
  });

  test.each(Object.keys(kinds))('%s', async (kind) => {
    const [plural = '', apiVersion = '', body] = kinds[kind] ?? [];
    const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
    const resource = { group, version, plural, namespaced: true };
    const { metadata: marks } = await api.get<{ metadata: { name: string; uid: string } }>(`${records}/web`);
    let count = 0;
    await fc.assert(
      fc.asyncProperty(metadata, body as fc.Arbitrary<object>, async (own, rest) => {
        count += 1;
        const name = `random-${count}`;
        const submitted = { apiVersion, kind, metadata: { name, namespace: 'default', ...(own as object) }, ...rest };
        const given = submitted.metadata as Readonly<Record<string, unknown>>;
        const manifest = {
          ...submitted,
          metadata: {
            ...given,
            labels: { ...(given['labels'] as object | undefined), [applySetLabels.partOf]: applySetId(set) },
            ownerReferences: [ownerReferenceTo(marks)],
          },
        };
        const path = resourcePath(resource, 'default', name);
        const query = { fieldManager: manager, force: true };
        const answered = await api.patch<Json>(path, 'apply', manifest, { query });
        const fields = appliedFields({ object: answered, manifest, manager, recordUid: marks.uid });
        expect(sorted(normal(projectMember(answered, fields)))).toEqual(sorted(normal(submitted)));
      }),
      { numRuns: 40 },
    );
  });
});
