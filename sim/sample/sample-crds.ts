/** The demo CRDs that follow well-known examples: Foo and CloudManager. */
import type { JsonObject } from '../objects/json.ts';

const text = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more });

/** The status conditions of most kinds. */
export const conditionsSchema: JsonObject = {
  type: 'array',
  description: 'Where the object stands.',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: text('The aspect, in CamelCase.', { maxLength: 316 }),
      status: text('True, False or Unknown.', { enum: ['True', 'False', 'Unknown'] }),
      reason: text('A word in CamelCase for the last transition.'),
      message: text('A message for people.'),
      lastTransitionTime: text('When the status last changed.', { format: 'date-time' }),
      observedGeneration: {
        type: 'integer',
        format: 'int64',
        minimum: 0,
        description: 'The generation it was set from.',
      },
    },
  },
};

/** The schema of a quantity in CRDs. */
export const quantitySchema: JsonObject = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
};

export const fooCrd: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'foos.samplecontroller.k8s.io',
    annotations: {
      'api-approved.kubernetes.io': 'unapproved, an example',
      'portolan.dev/relations': '- { name: deployments, to: Deployment.apps, reverse: foo, owns: true }',
    },
  },
  spec: {
    group: 'samplecontroller.k8s.io',
    scope: 'Namespaced',
    names: { kind: 'Foo', plural: 'foos', singular: 'foo', listKind: 'FooList' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Deployment', type: 'string', jsonPath: '.spec.deploymentName' },
          { name: 'Replicas', type: 'integer', jsonPath: '.spec.replicas' },
          { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'Foo asks for one Deployment and reports how much of it is available.',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['deploymentName', 'replicas'],
                properties: {
                  deploymentName: text('The name of the Deployment that the Foo owns.', { minLength: 1 }),
                  replicas: {
                    type: 'integer',
                    format: 'int32',
                    minimum: 1,
                    maximum: 10,
                    description: 'How many pods.',
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  availableReplicas: { type: 'integer', format: 'int32', description: 'How many pods are available.' },
                },
              },
            },
          },
        },
      },
    ],
  },
};

export const cloudManagerCrd: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'cloudmanagers.cloud.portolan.example',
    annotations: {
      'portolan.dev/relations': `
- { name: deployments, to: Deployment.apps, reverse: cloudManager, owns: true }
- { name: statefulSets, to: StatefulSet.apps, reverse: cloudManager, owns: true }
- { name: services, to: Service, reverse: cloudManager, owns: true }
- { name: secrets, to: Secret, reverse: cloudManager, owns: true }
`,
    },
  },
  spec: {
    group: 'cloud.portolan.example',
    scope: 'Namespaced',
    names: {
      kind: 'CloudManager',
      plural: 'cloudmanagers',
      singular: 'cloudmanager',
      shortNames: ['clm'],
      categories: ['all'],
    },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: '.spec.provider' }, { jsonPath: '.spec.region' }],
        additionalPrinterColumns: [
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
          { name: 'Region', type: 'string', jsonPath: '.spec.region', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'CloudManager runs a control plane for one region of a cloud: two Deployments, a StatefulSet and a Secret.',
            properties: {
              spec: {
                type: 'object',
                required: ['provider', 'region', 'version'],
                properties: {
                  provider: text('The cloud.', { enum: ['aws', 'azure', 'gcp', 'openstack'] }),
                  region: text('The region of the cloud.', { pattern: '^[a-z]+(-[a-z0-9]+)+$' }),
                  version: text('The version of the control plane.'),
                  replicas: {
                    type: 'integer',
                    format: 'int32',
                    minimum: 0,
                    maximum: 20,
                    default: 2,
                    description: 'Pods of each Deployment.',
                  },
                  paused: { type: 'boolean', default: false, description: 'Whether changes are held back.' },
                  database: {
                    type: 'object',
                    description: 'The database of the control plane.',
                    properties: {
                      engine: text('The engine.', { enum: ['postgres', 'mysql'], default: 'postgres' }),
                      instances: { type: 'integer', format: 'int32', default: 3, description: 'How many instances.' },
                      storage: { ...quantitySchema, description: 'The size of the disk of each instance.' },
                    },
                  },
                  port: {
                    'x-kubernetes-int-or-string': true,
                    description: 'The number or name of the port of the API.',
                  },
                  features: {
                    type: 'object',
                    description: 'Switches, by name.',
                    additionalProperties: { type: 'boolean' },
                  },
                  syncInterval: text('How often the cloud is read, such as 5m.', { format: 'duration' }),
                  settings: {
                    type: 'object',
                    description: 'Anything the provider understands.',
                    'x-kubernetes-preserve-unknown-fields': true,
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: text('Pending, Provisioning, Running, Degraded or Failed.'),
                  replicas: { type: 'integer', format: 'int32', description: 'Pods there are.' },
                  endpoint: text('Where the API can be reached.'),
                  secretName: text('The Secret with the credentials.'),
                  observedGeneration: {
                    type: 'integer',
                    format: 'int64',
                    description: 'The generation the status was set from.',
                  },
                  lastSyncTime: text('When the cloud was last read.', { format: 'date-time', nullable: true }),
                  machines: { type: 'integer', format: 'int64', description: 'Machines that are managed.' },
                  components: {
                    type: 'array',
                    description: 'The parts and their state.',
                    items: {
                      type: 'object',
                      properties: {
                        name: text('The name of the object.'),
                        kind: text('The kind of the object.'),
                        ready: { type: 'boolean', description: 'Whether it is ready.' },
                      },
                    },
                  },
                  conditions: conditionsSchema,
                },
              },
            },
          },
        },
      },
    ],
  },
};
