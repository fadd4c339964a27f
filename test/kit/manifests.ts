/** Manifests that tests create. */
import { customKind } from './custom-kind.ts';

/** Several manifests as one text. An older kubectl reads no documents of JSON between `---`. */
export function manifestList(items: readonly object[]): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

export function namespace(name: string): object {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** Name, rank and tier of the 25 pods. The ranks are a permutation, so that the order by rank differs from the order by name. */
export const ranks = Array.from({ length: 25 }, (_, index) => ({
  name: `pod-${String(index).padStart(2, '0')}`,
  rank: String((index * 7) % 25).padStart(2, '0'),
  tier: index % 3 === 0 ? 'front' : 'back',
}));

export function pod(inNamespace: string, index: number): Readonly<Record<string, unknown>> {
  const known = ranks[index] ?? { name: `pod-${String(index).padStart(2, '0')}`, rank: String(index), tier: 'extra' };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: known.name, namespace: inNamespace, labels: { app: 'e2e', rank: known.rank, tier: known.tier } },
    spec: {
      containers: [
        {
          name: 'web',
          image: `registry.example/web:${index}`,
          resources: { requests: { cpu: '250m', memory: '64Mi' } },
        },
      ],
    },
  };
}

export function secret(inNamespace: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'hidden', namespace: inNamespace },
    type: 'Opaque',
    data: { password: 'dG9wIHNlY3JldA==' },
  };
}

export function deployment(inNamespace: string, replicas: number, name = 'web'): object {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: inNamespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'nginx', image: 'nginx' }] },
      },
    },
  };
}

/** Over the Pods of the Deployment of this name. */
export function service(inNamespace: string, name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: inNamespace },
    spec: { selector: { app: name }, ports: [{ port: 80 }] },
  };
}

export function job(inNamespace: string): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'job', namespace: inNamespace },
    spec: {
      completions: 2,
      parallelism: 2,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'example/job:1' }] } },
    },
  };
}

/** A Node whose kubelet is kwok. */
export function fakeNode(name: string): object {
  const resources = { cpu: '32', memory: '256Gi', pods: '250' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, annotations: { 'kwok.x-k8s.io/node': 'fake' } },
    status: { allocatable: resources, capacity: resources },
  };
}

export function widgetCrd(): object {
  return customKind({
    group: 'e2e.portolan.example',
    kind: 'Widget',
    plural: 'widgets',
    version: { additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }] },
    schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            size: { type: 'integer', format: 'int32' },
            big: { type: 'integer', format: 'int64' },
            weight: {
              'x-kubernetes-int-or-string': true,
              anyOf: [{ type: 'integer' }, { type: 'string' }],
              pattern: '^(\\+|-)?[0-9.]+[a-zA-Z]*$',
            },
            ports: { type: 'array', items: { 'x-kubernetes-int-or-string': true } },
          },
        },
      },
    },
  });
}

/** A widget as JSON text, because its `big` is greater than a double can hold exactly. */
export function widget(inNamespace: string): string {
  return `{"apiVersion":"e2e.portolan.example/v1","kind":"Widget","metadata":{"name":"first","namespace":"${inNamespace}"},"spec":{"size":3,"big":9007199254740993,"weight":"250m","ports":["http",80]}}`;
}
