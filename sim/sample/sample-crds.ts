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
      'portolan.dev/relations': `
- { name: deployment, to: Deployment.apps, reverse: foos, at: [spec.deploymentName] }
- { name: deployments, to: Deployment.apps, reverse: foo, owns: true }
`,
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

/** A Deployment of a CloudManager. */
const deploymentPart = (description: string): JsonObject => ({
  type: 'object',
  description,
  required: ['deployment'],
  properties: {
    deployment: {
      type: 'object',
      required: ['image', 'name'],
      properties: { image: text('The image of its containers.'), name: text('The name of the Deployment.') },
    },
  },
});

export const cloudManagerCrd: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: {
    name: 'cloudmanagers.cloud.portolan.example',
    annotations: {
      'portolan.dev/relations': `
- { name: front, to: Deployment.apps, reverse: frontOf, at: [spec.front.deployment.name] }
- { name: identity, to: Deployment.apps, reverse: identityOf, at: [spec.identity.deployment.name] }
- { name: db, to: StatefulSet.apps, reverse: dbOf, at: [spec.db.statefulSet.name] }
- { name: storageClass, to: StorageClass.storage.k8s.io, reverse: cloudManagers, at: [spec.db.statefulSet.storage.class] }
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
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Status', type: 'string', jsonPath: '.status.phase' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description:
              'CloudManager runs the control plane of a cloud: a front, an identity service, a database and a Secret.',
            required: ['spec'],
            properties: {
              spec: {
                type: 'object',
                required: ['front', 'identity', 'db'],
                properties: {
                  front: deploymentPart('What users see.'),
                  identity: deploymentPart('Who the users are.'),
                  db: {
                    type: 'object',
                    description: 'Where both keep their data.',
                    required: ['statefulSet'],
                    properties: {
                      statefulSet: {
                        type: 'object',
                        required: ['image', 'name', 'storage'],
                        properties: {
                          image: text('The image of its containers.'),
                          name: text('The name of the StatefulSet.'),
                          storage: {
                            type: 'object',
                            description: 'The disk of the database.',
                            required: ['size'],
                            properties: {
                              class: text('The name of its StorageClass.'),
                              accessModes: {
                                type: 'array',
                                description: 'How the disk may be mounted.',
                                items: { type: 'string' },
                              },
                              size: { ...quantitySchema, description: 'Its size.' },
                            },
                          },
                        },
                      },
                    },
                  },
                },
              },
              status: {
                type: 'object',
                properties: {
                  phase: text('Pending, Provisioning, Running, Updating or Degraded.'),
                  message: text('Which parts are not ready.'),
                },
              },
            },
          },
        },
      },
    ],
  },
};
