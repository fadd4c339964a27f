/** The CRDs of the app store in the demo world: Redis and MySQL, by operators that agree in nothing but their purpose. */
import type { JsonObject } from '../objects/json.ts';
import { conditionsSchema, quantitySchema } from './sample-crds.ts';

export const cacheGroup = 'cache.portolan.example';
export const databaseGroup = 'db.portolan.example';

const text = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more });
const count = (description: string, more: JsonObject = {}): JsonObject => ({
  type: 'integer',
  format: 'int32',
  description,
  ...more,
});
const object = (description: string, properties: JsonObject, required: readonly string[] = []): JsonObject => ({
  type: 'object',
  description,
  ...(required.length === 0 ? {} : { required }),
  properties,
});
const generation: JsonObject = {
  type: 'integer',
  format: 'int64',
  description: 'The generation the status was set from.',
};
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

function crd(group: string, names: JsonObject & { readonly plural: string }, version: JsonObject): JsonObject {
  const owned = (name: string, to: string): string =>
    `- { name: ${name}, to: ${to}, reverse: ${String(names.singular)}, owns: true }\n`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${names.plural}.${group}`,
      labels: { 'app.kubernetes.io/part-of': 'app-store' },
      annotations: {
        'portolan.dev/relations':
          owned('statefulSets', 'StatefulSet.apps') + owned('services', 'Service') + owned('secrets', 'Secret'),
      },
    },
    spec: {
      group,
      scope: 'Namespaced',
      names: { ...names, listKind: `${String(names.kind)}List` },
      versions: [{ name: 'v1', served: true, storage: true, ...version }],
    },
  };
}

/** It tells its state by a phase. */
export const redisCrd: JsonObject = crd(
  cacheGroup,
  { kind: 'Redis', plural: 'redises', singular: 'redis', shortNames: ['rds'], categories: ['appstore'] },
  {
    subresources: {
      status: {},
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.readyReplicas' },
    },
    selectableFields: [{ jsonPath: '.spec.mode' }],
    additionalPrinterColumns: [
      { name: 'Version', type: 'string', jsonPath: '.spec.version' },
      { name: 'Memory', type: 'string', jsonPath: '.spec.memory' },
      { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
      age,
    ],
    schema: {
      openAPIV3Schema: object('Redis is one cache: a StatefulSet, a Service and a Secret.', {
        spec: object(
          'What is wanted.',
          {
            version: text('The version of Redis.', { pattern: '^[0-9]+(\\.[0-9]+)*$' }),
            mode: text('How its servers work together.', {
              enum: ['standalone', 'replicated', 'sentinel'],
              default: 'standalone',
            }),
            replicas: count('How many servers; 0 stops it.', { minimum: 0, maximum: 9, default: 1 }),
            memory: { ...quantitySchema, description: 'Memory of each server.' },
            port: { 'x-kubernetes-int-or-string': true, description: 'The number or name of the port.' },
            persistent: { type: 'boolean', default: true, description: 'Whether data outlives a restart.' },
            timeout: text('When an idle connection is closed.', { format: 'duration' }),
            parameters: {
              type: 'object',
              description: 'Lines of redis.conf, by name.',
              additionalProperties: { type: 'string' },
            },
            modules: {
              type: 'object',
              description: 'Settings of modules; free JSON.',
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
          ['version', 'memory'],
        ),
        status: object('What there is.', {
          phase: text('Starting, Running, Degraded or Stopped.'),
          readyReplicas: count('Servers that answer.'),
          endpoint: text('Where it can be reached.'),
          lastFailover: text('When another server became the first.', { format: 'date-time', nullable: true }),
          observedGeneration: generation,
        }),
      }),
    },
  },
);

/** It tells its state by conditions. */
export const mysqlCrd: JsonObject = crd(
  databaseGroup,
  { kind: 'MySQL', plural: 'mysqls', singular: 'mysql', categories: ['appstore'] },
  {
    subresources: { status: {} },
    additionalPrinterColumns: [
      { name: 'Tag', type: 'string', jsonPath: '.spec.image.tag' },
      { name: 'Instances', type: 'integer', jsonPath: '.spec.instances' },
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      age,
    ],
    schema: {
      openAPIV3Schema: object('MySQL is one database: a StatefulSet with storage, a Service and a Secret.', {
        spec: object(
          'What is wanted.',
          {
            image: object(
              'What runs.',
              { repository: text('The name of the image.'), tag: text('The version of MySQL.') },
              ['tag'],
            ),
            instances: count('How many servers.', { minimum: 1, maximum: 9, default: 1 }),
            storage: object(
              'The disk of each server.',
              {
                size: { ...quantitySchema, description: 'Its size.' },
                class: text('The name of its StorageClass.'),
              },
              ['size'],
            ),
            backup: object('Copies of the data.', {
              schedule: text('When a copy is made, as in a CronJob.'),
              keep: count('How many copies are kept.', { default: 7 }),
            }),
          },
          ['image', 'storage'],
        ),
        status: object('What there is.', {
          readyInstances: count('Servers that answer.'),
          conditions: conditionsSchema,
          observedGeneration: generation,
        }),
      }),
    },
  },
);
