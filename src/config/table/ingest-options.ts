/** Options of ingest: the clusters, the kinds, and the file of the store. */
import { z } from 'zod';
import { all, clusters, granted, running } from './command-sets.ts';
import type { OptionDefinition } from './option-definition.ts';
import { diskSize, duration, flag, names, namespaceName, text, whole } from './option-values.ts';

export const ingestOptions = {
  kubeconfig: {
    key: 'kubeconfig',
    value: 'path',
    help: 'Kubeconfig file; otherwise $KUBECONFIG, otherwise ~/.kube/config.',
    commands: clusters,
    schema: text.optional(),
  },
  context: {
    key: 'context',
    value: 'name',
    list: true,
    help: 'Context of the kubeconfig; give several to serve several clusters through one gateway.',
    commands: clusters,
    schema: names.default([]),
  },
  clusterSecrets: {
    key: 'clusterSecrets',
    value: 'namespace',
    help: 'Serve the clusters that Secrets of this namespace register, while the gateway runs. The Secrets are in the first cluster, or in that of --auth-cluster.',
    commands: ['serve', 'rbac'],
    schema: namespaceName.optional(),
  },
  clusterSecretSelector: {
    key: 'clusterSecretSelector',
    value: 'selector',
    help: 'Label selector of these Secrets; for those of Argo CD: argocd.argoproj.io/secret-type=cluster.',
    commands: ['serve'],
    schema: text.default('portolan.dev/secret-type=cluster'),
  },
  inCluster: {
    key: 'inCluster',
    help: "Use the Pod's service account; the default inside a cluster when no kubeconfig is named.",
    commands: clusters,
    schema: flag.default(false),
  },
  kinds: {
    key: 'kinds',
    value: 'names',
    list: true,
    help: 'Only these resources: plural, plural.group or Kind, with * for any text.',
    commands: [...all, 'rbac'],
    schema: names.default([]),
  },
  exclude: {
    key: 'exclude',
    value: 'names',
    list: true,
    help: 'Not these resources. Leases are left out unless --kinds names them.',
    commands: [...all, 'rbac'],
    schema: names.default([]),
  },
  namespaces: {
    key: 'namespaces',
    value: 'names',
    list: true,
    help: 'Read namespaced resources in these namespaces alone; for those who may not read all of them.',
    commands: granted,
    schema: z.array(namespaceName).default([]),
  },
  streamingLists: {
    key: 'streamingLists',
    value: 'when',
    help: 'auto: read a collection as the beginning of its watch where the server can; off: always list in pages.',
    commands: running,
    schema: z.enum(['auto', 'off'], { error: 'must be auto or off' }).default('auto'),
  },
  requestsPerSecond: {
    key: 'requestsPerSecond',
    value: 'number',
    help: 'The most lists and watches that are begun in a cluster in a second; as many may come at once.',
    commands: running,
    schema: whole(1, 10_000).default(100),
  },
  auditInterval: {
    key: 'auditInterval',
    value: 'duration',
    help: 'Compare each table with the server once in this time, by a list of metadata; 0s: never.',
    shown: '24h',
    commands: running,
    schema: duration.prefault('24h'),
  },
  data: {
    key: 'data',
    value: 'path',
    help: 'SQLite file. serve keeps it and goes on from it; without it the data lives in a temporary folder.',
    commands: running,
    schema: text.optional(),
  },
  maxDisk: {
    key: 'maxDisk',
    value: 'size',
    help: 'The most that the files of the store may take together: 512Mi, 10Gi. Without it there is no limit.',
    commands: running,
    schema: diskSize.optional(),
  },
  eventsMax: {
    key: 'eventsMax',
    value: 'number',
    help: 'Keep at most this many Events.',
    commands: running,
    schema: whole(0, 10_000_000).default(50_000),
  },
  eventsMaxAge: {
    key: 'eventsMaxAge',
    value: 'duration',
    help: 'Keep Events no longer than this: 30m, 6h, 2d.',
    shown: '6h',
    commands: running,
    schema: duration.prefault('6h'),
  },
} as const satisfies Record<string, OptionDefinition>;
