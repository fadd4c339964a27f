/**
 * The table of all options. Each entry defines a flag, an environment variable and a key of portolan.yaml. It also defines the
 * line of --help and the validation.
 *
 *   eventsMaxAge     --events-max-age 6h     PORTOLAN_EVENTS_MAX_AGE=6h     eventsMaxAge: 6h
 */
import { z } from 'zod';
import type { OptionDefinition } from './option-definition.ts';
import {
  address,
  credentialKind,
  diskSize,
  duration,
  flag,
  names,
  namespaceName,
  origin,
  promotion,
  redaction,
  roleName,
  serviceAccount,
  text,
  whole,
} from './option-values.ts';

/** Reader threads without the option `readers`. The option has no default in its schema, because the demo has another number. */
export const defaultReaders = 3;

const all = ['demo', 'serve', 'schema'] as const;
const running = ['demo', 'serve'] as const;
const clusters = ['serve', 'schema', 'rbac', 'can'] as const;
const granted = ['serve', 'rbac'] as const;

/** Each schema holds the option's default, so that --help, file and code use the same one. */
export const optionTable = {
  port: {
    key: 'port',
    value: 'number',
    help: 'Port to listen on; 0 takes any free one.',
    commands: running,
    schema: whole(0, 65_535).default(4000),
  },
  host: {
    key: 'host',
    value: 'address',
    help: 'Address to listen on. Anything but loopback needs --auth.',
    commands: running,
    schema: text.default('127.0.0.1'),
  },
  auth: {
    key: 'auth',
    value: 'kinds',
    list: true,
    help: 'Credentials of callers: token (TokenReview), proxy (headers of a front proxy), certificate, or none: every caller sees all.',
    shown: 'none on loopback',
    commands: granted,
    schema: z.array(credentialKind).default([]),
  },
  authCluster: {
    key: 'authCluster',
    value: 'cluster',
    help: 'The cluster that knows the callers, when there are several: it reviews their tokens and decides what they see there.',
    commands: granted,
    schema: text.optional(),
  },
  sameUsers: {
    key: 'sameUsers',
    help: 'The other clusters know the same users and groups: callers see there what the roles of each cluster grant them.',
    commands: granted,
    schema: flag.default(false),
  },
  authorizationMode: {
    key: 'authorizationMode',
    value: 'mode',
    help: 'Who decides what callers may read. auto: roles and bindings, and reviews by the API server for the rest; rbac: only roles and bindings; review: only reviews.',
    commands: granted,
    schema: z.enum(['auto', 'rbac', 'review'], { error: 'must be auto, rbac or review' }).default('auto'),
  },
  tlsCert: {
    key: 'tlsCert',
    value: 'file',
    help: 'Certificate of the gateway in PEM, with --tls-key. Read again when it changes.',
    commands: ['serve'],
    schema: text.optional(),
  },
  tlsKey: {
    key: 'tlsKey',
    value: 'file',
    help: 'Private key of --tls-cert in PEM.',
    commands: ['serve'],
    schema: text.optional(),
  },
  clientCa: {
    key: 'clientCa',
    value: 'file',
    help: 'Authorities of client certificates in PEM, for --auth certificate.',
    commands: ['serve'],
    schema: text.optional(),
  },
  proxyClientCa: {
    key: 'proxyClientCa',
    value: 'file',
    help: 'Authorities of the certificates of front proxies in PEM, for --auth proxy.',
    commands: ['serve'],
    schema: text.optional(),
  },
  proxyClientName: {
    key: 'proxyClientName',
    value: 'names',
    list: true,
    help: 'Common names of front proxies; otherwise every certificate of --proxy-client-ca is one.',
    commands: ['serve'],
    schema: names.default([]),
  },
  tokenAudience: {
    key: 'tokenAudience',
    value: 'names',
    list: true,
    help: 'Audiences of which a token must have one; otherwise those of the API server.',
    commands: ['serve'],
    schema: names.default([]),
  },
  callerRequests: {
    key: 'callerRequests',
    value: 'number',
    help: 'Queries that one caller may have in flight.',
    commands: ['serve'],
    schema: whole(1, 100_000).default(100),
  },
  callerCost: {
    key: 'callerCost',
    value: 'number',
    help: 'Values that the queries of one caller may ask for in a minute.',
    commands: ['serve'],
    schema: whole(1000, 100_000_000_000).default(50_000_000),
  },
  callerSubscriptions: {
    key: 'callerSubscriptions',
    value: 'number',
    help: 'Subscriptions that one caller may have.',
    commands: ['serve'],
    schema: whole(1, 1_000_000).default(1000),
  },
  callerConnections: {
    key: 'callerConnections',
    value: 'number',
    help: 'WebSockets that one caller may have.',
    commands: ['serve'],
    schema: whole(1, 1_000_000).default(200),
  },
  auditLog: {
    key: 'auditLog',
    value: 'path',
    help: 'File to which every denial is appended as a line of JSON; - for standard output.',
    commands: ['serve'],
    schema: text.optional(),
  },
  allowOrigin: {
    key: 'allowOrigin',
    value: 'origins',
    list: true,
    help: 'Origins whose pages may use the gateway over HTTP and WebSocket, such as http://localhost:5173.',
    commands: running,
    schema: z.array(origin).default([]),
  },
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
  readers: {
    key: 'readers',
    value: 'number',
    help: 'Reader threads; each answers one operation at a time. Default of the demo: 2.',
    shown: String(defaultReaders),
    commands: running,
    schema: whole(1, 64).optional(),
  },
  leaseMs: {
    key: 'leaseMs',
    value: 'milliseconds',
    help: 'The longest that one operation may hold its snapshot before it gets TIMEOUT.',
    commands: running,
    schema: whole(10, 60_000).default(1000),
  },
  maxPageSize: {
    key: 'maxPageSize',
    value: 'number',
    help: 'The most objects on one page.',
    commands: running,
    schema: whole(1, 10_000).default(500),
  },
  maxCost: {
    key: 'maxCost',
    value: 'number',
    help: 'The most values (fields, times the sizes of lists) that one operation may request.',
    commands: running,
    schema: whole(100, 1_000_000_000).default(500_000),
  },
  maxReadBytes: {
    key: 'maxReadBytes',
    value: 'bytes',
    help: 'The most bytes of objects that one operation may read.',
    commands: running,
    schema: whole(100_000, 4_000_000_000).default(67_108_864),
  },
  searchPaths: {
    key: 'searchPaths',
    value: 'paths',
    list: true,
    help: 'Paths that search covers besides names, labels and images, such as spec.host or spec.rules[].host.',
    commands: running,
    schema: names.default([]),
  },
  scanRows: {
    key: 'scanRows',
    value: 'number',
    help: 'Objects that the counts, aggregates and facets of one operation may read. The bound is five times as high for rows whose columns are enough, and twenty times as high for entries of one index.',
    commands: running,
    schema: whole(0, 1_000_000_000).default(100_000),
  },
  preparedAnswers: {
    key: 'preparedAnswers',
    value: 'true|false',
    help: 'Answer plain lists with text that the readers write; false leaves everything to the executor.',
    commands: running,
    schema: flag.default(true),
  },
  promote: {
    key: 'promote',
    value: 'resource=path',
    list: true,
    help: 'Paths that have an indexed column from the start, such as pods=spec.schedulerName or foos.example.com=spec.size.',
    commands: running,
    schema: z.array(promotion).default([]),
  },
  promoteQueried: {
    key: 'promoteQueried',
    value: 'true|false',
    help: 'Give paths that queries are seen to need an indexed column in the background (default: true).',
    commands: running,
    schema: flag.default(true),
  },
  redact: {
    key: 'redact',
    value: 'resource=path',
    list: true,
    help: 'Paths whose values are never stored, such as pods=spec.containers[].env or foos.example.com=spec.password. Resources are named as in --kinds.',
    commands: running,
    schema: z.array(redaction).default([]),
  },
  secretData: {
    key: 'secretData',
    value: 'when',
    help: 'live: fetch the data of Secrets from the API server as the caller, when a query selects it; absent: never. live needs --auth.',
    commands: granted,
    schema: z.enum(['absent', 'live'], { error: 'must be absent or live' }).default('absent'),
  },
  relations: {
    key: 'relations',
    value: 'file',
    help: 'A YAML file that declares relations between kinds, and switches relations off.',
    commands: [...running, 'schema'],
    schema: text.optional(),
  },
  inferRelations: {
    key: 'inferRelations',
    value: 'true|false',
    help: 'Infer relations of custom resources from their schemas. false: declared relations only.',
    commands: [...running, 'schema'],
    schema: flag.default(true),
  },
  relationAnnotations: {
    key: 'relationAnnotations',
    help: 'Let the annotation portolan.dev/relations of a CustomResourceDefinition declare relations of its kind.',
    commands: [...running, 'schema'],
    schema: flag.default(false),
  },
  explain: {
    key: 'explain',
    help: 'Let callers see how their operations are carried out: SQL, use of indexes, rows.',
    commands: running,
    schema: flag.default(false),
  },
  slowQueryMs: {
    key: 'slowQueryMs',
    value: 'milliseconds',
    help: 'Log operations that take longer, by their shape and without values.',
    commands: running,
    schema: whole(1, 3_600_000).default(500),
  },
  keepAlive: {
    key: 'keepAlive',
    value: 'duration',
    help: 'How long an idle HTTP connection is kept. Longer than a proxy in front keeps its own.',
    shown: '75s',
    commands: running,
    schema: duration.prefault('75s').refine((milliseconds) => milliseconds >= 1000, 'must be at least 1s'),
  },
  drain: {
    key: 'drain',
    value: 'duration',
    help: 'How long the gateway still answers after SIGTERM, while /readyz says 503 and WebSockets are closed one by one, so that clients move to another replica; 0s: not at all.',
    shown: '0s',
    commands: ['serve'],
    schema: duration.prefault('0s'),
  },
  waitForSync: {
    key: 'waitForSync',
    value: 'duration',
    help: 'The longest that a query waits for a kind in its first sync, before CACHE_NOT_READY; 0s: not at all.',
    shown: '2s',
    commands: running,
    schema: duration.prefault('2s'),
  },
  pods: {
    key: 'pods',
    value: 'number',
    help: 'Pods in the demo world.',
    commands: ['demo'],
    schema: whole(0, 200_000).default(2000),
  },
  still: {
    key: 'still',
    help: 'A demo world in which nothing happens by itself.',
    commands: ['demo'],
    schema: flag.default(false),
  },
  demo: {
    key: 'demo',
    help: 'Print the schema of the demo world instead of a cluster.',
    commands: ['schema'],
    schema: flag.default(false),
  },
  semanticNonNull: {
    key: 'semanticNonNull',
    help: 'Mark the fields that the schemas of the API server require with @semanticNonNull.',
    commands: ['schema'],
    schema: flag.default(false),
  },
  url: {
    key: 'url',
    value: 'address',
    help: 'GraphQL endpoint of the gateway.',
    commands: ['status', 'relations'],
    schema: address.default('http://127.0.0.1:4000/graphql'),
  },
  failing: {
    key: 'failing',
    help: 'Show only what is failing.',
    commands: ['status'],
    schema: flag.default(false),
  },
  all: {
    key: 'all',
    help: 'Show the healthy resources too, one in a line.',
    commands: ['status'],
    schema: flag.default(false),
  },
  json: {
    key: 'json',
    help: 'Print JSON.',
    commands: ['status', 'relations', 'can'],
    schema: flag.default(false),
  },
  suggest: {
    key: 'suggest',
    help: 'Print the inferred relations as declarations for --relations.',
    commands: ['relations'],
    schema: flag.default(false),
  },
  wildcards: {
    key: 'wildcards',
    help: 'Grant all resources in one rule instead of naming them; it holds for the kinds of CRDs to come too.',
    commands: ['rbac'],
    schema: flag.default(false),
  },
  serviceAccount: {
    key: 'serviceAccount',
    value: 'namespace/name',
    help: 'Print the bindings of this service account too; otherwise only the roles.',
    commands: ['rbac'],
    schema: serviceAccount.optional(),
  },
  name: {
    key: 'name',
    value: 'name',
    help: 'The name of the roles and bindings.',
    commands: ['rbac'],
    schema: roleName.default('portolan'),
  },
  logLevel: {
    key: 'logLevel',
    value: 'level',
    help: 'debug, info, warn, error or silent; on standard error: text on a terminal, else JSON lines.',
    commands: all,
    schema: z
      .enum(['debug', 'info', 'warn', 'error', 'silent'], { error: 'must be debug, info, warn, error or silent' })
      .default('info'),
  },
} as const satisfies Record<string, OptionDefinition>;

type OptionKey = keyof typeof optionTable;

/** The value of every option, with defaults applied. */
export type Config = { readonly [K in OptionKey]: z.output<(typeof optionTable)[K]['schema']> };

/** `eventsMaxAge` -> `--events-max-age`. */
export function flagOf(key: string): string {
  return `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** `eventsMaxAge` -> `PORTOLAN_EVENTS_MAX_AGE`. */
export function variableOf(key: string): string {
  return `PORTOLAN_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}
