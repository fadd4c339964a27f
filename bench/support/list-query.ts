/** The page that bench/list.ts requests, and its Pods: every server of the benchmark shows the same 15 leaves. */
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import type { Field } from '../../src/catalog/tree/field-tree.ts';
import { objectMetaKey, sharedShapes } from '../../src/catalog/tree/shared-shapes.ts';
import { podDescription } from './pods.ts';

const leaves: Readonly<Record<'spec' | 'status', readonly string[]>> = {
  spec: ['dnsPolicy', 'nodeName', 'restartPolicy', 'serviceAccountName'],
  status: ['phase', 'podIP', 'qosClass', 'startTime'],
};

export const pageSize = 50;

/** `$after` null is page one. */
export const listQuery = `query Page($after: String) {
  pods(filter: { status: { phase: { eq: "Running" } } }, orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }], first: ${pageSize}, after: $after) {
    nodes { apiVersion metadata { name namespace uid resourceVersion creationTimestamp generateName } spec { ${leaves.spec.join(' ')} } status { ${leaves.status.join(' ')} } }
    pageInfo { hasNextPage endCursor }
  }
}`;

/** The same page with the number of all matches. */
export const countedQuery = listQuery.replace('pageInfo {', 'totalCount pageInfo {');

/** The Pods with the most restarts. */
export const restartsQuery = `{ pods(orderBy: [{ path: "sum(status.containerStatuses[].restartCount)", direction: DESC }], first: ${pageSize}) {
  nodes { metadata { name namespace } value(path: "sum(status.containerStatuses[].restartCount)") } } }`;

/** Further queries of a console for this list, each with its title. */
export const otherQueries: readonly (readonly [what: string, query: string])[] = [
  [
    'filter without an index, common',
    `{ pods(filter: { status: { qosClass: { eq: "Burstable" } } }, first: ${pageSize}) { nodes { metadata { name } } } }`,
  ],
  [
    'filter without an index, one of 400',
    `{ pods(filter: { metadata: { generateName: { eq: "app-7-" } } }, first: ${pageSize}) { nodes { metadata { name } } } }`,
  ],
  ['totalCount', '{ pods { totalCount } }'],
  ['totalCount of a filter', '{ pods(filter: { status: { phase: { eq: "Running" } } }) { totalCount } }'],
  ['groups', '{ pods { aggregate { groups(by: ["status.phase", "spec.nodeName"]) { keys aggregate { count } } } } }'],
  ['facets', '{ pods { facets(paths: ["status.phase", "metadata.namespace"]) { path values { value count } } } }'],
  ['search', `{ pods(filter: { search: "app-59-" }, first: ${pageSize}) { nodes { metadata { name } } } }`],
];

/** Pods with as much of their tree as the query needs. */
export function treedPods(cluster: string): DescribedResource {
  const fields = (names: readonly string[]): Field[] =>
    names.map((name) => ({ name, type: { kind: 'leaf', type: name === 'startTime' ? 'DateTime' : 'String' } }));
  const containerStatuses: Field = {
    name: 'containerStatuses',
    type: { kind: 'list', of: { kind: 'object', shape: 'containerStatus' } },
  };
  const spec = { key: 'spec', path: ['spec'], fields: fields(leaves.spec) };
  const status = { key: 'status', path: ['status'], fields: [...fields(leaves.status), containerStatuses] };
  const containerStatus = {
    key: 'containerStatus',
    path: ['status', 'containerStatuses'],
    fields: [{ name: 'restartCount', type: { kind: 'leaf', type: 'Int' } }] satisfies Field[],
  };
  const root = {
    key: 'root',
    path: [],
    fields: [
      { name: 'metadata', type: { kind: 'object', shape: objectMetaKey } },
      ...(['spec', 'status'] as const).map((name): Field => ({ name, type: { kind: 'object', shape: name } })),
    ] satisfies Field[],
  };
  return {
    ...podDescription(cluster),
    tree: {
      root: 'root',
      shapes: { ...Object.fromEntries(sharedShapes), root, spec, status, containerStatus },
    },
  };
}

/** The phase of the Pod with that index: one of twenty is not Running. */
export function phaseOf(index: number): string {
  return index % 20 === 0 ? 'Pending' : 'Running';
}
