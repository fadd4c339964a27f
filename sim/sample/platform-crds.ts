/** The CRDs of the application platform in the demo world: Project (cluster-scoped), Template (two versions) and Plugin. */
import type { JsonObject } from '../objects/json.ts';
import { conditionsSchema, quantitySchema } from './sample-crds.ts';

export const platformGroup = 'platform.portolan.example';

const text = (description: string, more: JsonObject = {}): JsonObject => ({ type: 'string', description, ...more });
const age = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const reference = (description: string, namespaced: boolean): JsonObject => ({
  type: 'object',
  description,
  required: ['name'],
  properties: {
    name: text('The name.'),
    ...(namespaced ? { namespace: text('The namespace.') } : {}),
  },
});

function crd(
  scope: string,
  kind: string,
  shortNames: string[],
  versions: JsonObject[],
  annotations: JsonObject = {},
): JsonObject {
  const plural = `${kind.toLowerCase()}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${platformGroup}`, labels: { 'app.kubernetes.io/part-of': 'platform' }, annotations },
    spec: {
      group: platformGroup,
      scope,
      names: {
        kind,
        plural,
        singular: kind.toLowerCase(),
        listKind: `${kind}List`,
        shortNames,
        categories: ['platform'],
      },
      versions,
    },
  };
}

const projectSchema: JsonObject = {
  type: 'object',
  description: 'Project gives a team namespaces, a quota and plugins.',
  properties: {
    spec: {
      type: 'object',
      required: ['displayName', 'owner'],
      properties: {
        displayName: text('The name people see.', { maxLength: 64 }),
        owner: {
          type: 'object',
          description: 'Who answers for the project.',
          required: ['name'],
          properties: {
            name: text('The name of the owner.'),
            email: text('The address of the owner.', { format: 'email' }),
          },
        },
        namespaces: {
          type: 'array',
          description: 'The namespaces of the project.',
          'x-kubernetes-list-type': 'set',
          items: { type: 'string' },
        },
        members: {
          type: 'array',
          description: 'Who may work in the project.',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['user'],
          items: {
            type: 'object',
            required: ['user', 'role'],
            properties: {
              user: text('The user.'),
              role: text('The role.', { enum: ['viewer', 'developer', 'admin'] }),
            },
          },
        },
        quota: { type: 'object', description: 'Limits, by resource.', additionalProperties: quantitySchema },
        budget: { type: 'number', description: 'Money for a month.', minimum: 0 },
        costCenter: { type: 'integer', format: 'int64', description: 'The number of the cost centre.' },
        tier: text('How important the project is.', { enum: ['bronze', 'silver', 'gold'], default: 'bronze' }),
        suspended: { type: 'boolean', default: false, description: 'Whether nothing runs.' },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: text('Pending, Active, Suspended or Terminating.'),
        usage: { type: 'object', description: 'What is used, by resource.', additionalProperties: quantitySchema },
        pluginCount: { type: 'integer', format: 'int32', description: 'How many plugins are installed.' },
        observedGeneration: {
          type: 'integer',
          format: 'int64',
          description: 'The generation the status was set from.',
        },
        conditions: conditionsSchema,
      },
    },
  },
};

function templateSchema(beta: boolean): JsonObject {
  return {
    type: 'object',
    description: 'Template says how an application is installed.',
    properties: {
      spec: {
        type: 'object',
        required: ['title', 'engine'],
        properties: {
          title: text('The name people see.'),
          engine: text('What renders the template.', { enum: ['helm', 'kustomize', 'raw'] }),
          version: text('The version of the application.'),
          ...(beta
            ? {}
            : { maintainers: { type: 'array', description: 'Who keeps it up to date.', items: { type: 'string' } } }),
          parameters: {
            type: 'array',
            description: 'What an installation may set.',
            items: {
              type: 'object',
              required: ['name'],
              properties: {
                name: text('The name.'),
                type: text('The type.', { enum: ['string', 'number', 'boolean', 'object'], default: 'string' }),
                required: { type: 'boolean', default: false, description: 'Whether it must be set.' },
                default: {
                  'x-kubernetes-preserve-unknown-fields': true,
                  description: 'Its value when it is not set; any JSON.',
                },
              },
            },
          },
          ports: {
            type: 'array',
            description: 'Ports of the application.',
            items: {
              type: 'object',
              properties: {
                name: text('The name.'),
                port: { 'x-kubernetes-int-or-string': true, description: 'The number or name of the port.' },
              },
            },
          },
          resources: {
            type: 'object',
            description: 'What it needs, by resource.',
            additionalProperties: quantitySchema,
          },
          values: {
            type: 'object',
            description: 'Values for the engine; free JSON.',
            'x-kubernetes-preserve-unknown-fields': true,
          },
        },
      },
    },
  };
}

const pluginSchema: JsonObject = {
  type: 'object',
  description: 'Plugin installs a Template into a Project.',
  properties: {
    spec: {
      type: 'object',
      required: ['projectRef', 'templateRef'],
      properties: {
        projectRef: reference('The project it belongs to.', false),
        templateRef: reference('The template it is made from.', true),
        enabled: { type: 'boolean', default: true, description: 'Whether it runs.' },
        version: text('The version to install.'),
        replicas: { type: 'integer', format: 'int32', minimum: 0, default: 1, description: 'How many pods.' },
        targetPort: { 'x-kubernetes-int-or-string': true, description: 'The number or name of the port.' },
        timeout: text('How long an installation may take.', { format: 'duration', default: '5m0s' }),
        memory: { ...quantitySchema, description: 'Memory of each pod.' },
        config: {
          type: 'object',
          description: 'Settings of the application; free JSON.',
          'x-kubernetes-preserve-unknown-fields': true,
        },
        annotations: {
          type: 'object',
          description: 'Annotations of what is installed.',
          additionalProperties: { type: 'string' },
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        phase: text('Pending, Installing, Ready, Upgrading or Failed.'),
        message: text('What happened last.'),
        installedVersion: text('The version that runs.'),
        installedAt: text('When it was installed.', { format: 'date-time', nullable: true }),
        requests: { type: 'integer', format: 'int64', description: 'Requests served so far.' },
        observedGeneration: {
          type: 'integer',
          format: 'int64',
          description: 'The generation the status was set from.',
        },
        conditions: conditionsSchema,
      },
    },
  },
};

export const platformCrds: readonly JsonObject[] = [
  crd(
    'Cluster',
    'Project',
    ['proj'],
    [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'Title', type: 'string', jsonPath: '.spec.displayName' },
          { name: 'Tier', type: 'string', jsonPath: '.spec.tier' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Plugins', type: 'integer', jsonPath: '.status.pluginCount' },
          age,
        ],
        schema: { openAPIV3Schema: projectSchema },
      },
    ],
  ),
  crd(
    'Namespaced',
    'Template',
    ['tpl'],
    [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Title', type: 'string', jsonPath: '.spec.title' },
          { name: 'Engine', type: 'string', jsonPath: '.spec.engine' },
          age,
        ],
        schema: { openAPIV3Schema: templateSchema(false) },
      },
      {
        name: 'v1beta1',
        served: true,
        storage: false,
        deprecated: true,
        schema: { openAPIV3Schema: templateSchema(true) },
      },
    ],
  ),
  crd(
    'Namespaced',
    'Plugin',
    ['plug'],
    [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: '.spec.projectRef.name' }],
        additionalPrinterColumns: [
          { name: 'Project', type: 'string', jsonPath: '.spec.projectRef.name' },
          { name: 'Template', type: 'string', jsonPath: '.spec.templateRef.name' },
          { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
          { name: 'Version', type: 'string', jsonPath: '.status.installedVersion', priority: 1 },
          age,
        ],
        schema: { openAPIV3Schema: pluginSchema },
      },
    ],
    {
      'portolan.dev/relations': `
- { name: project, to: Project.platform.portolan.example, reverse: plugins, at: [{ at: spec.projectRef }] }
- { name: template, to: Template.platform.portolan.example, reverse: plugins, at: [{ at: spec.templateRef, namespace: namespace }] }
`,
    },
  ),
];
