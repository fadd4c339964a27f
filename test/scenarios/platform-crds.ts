/** CustomResourceDefinitions of a platform: one of Kubernetes' sample controller, one of a cloud, and an application store. */

type Schema = Readonly<Record<string, unknown>>;

interface Definition {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly spec: Schema;
  readonly status?: Schema;
  readonly columns?: readonly { readonly name: string; readonly type: string; readonly jsonPath: string }[];
  readonly annotations?: Readonly<Record<string, string>>;
}

const text: Schema = { type: 'string' };
const object = (properties: Schema): Schema => ({ type: 'object', properties });
const phase = object({ phase: text });

/** Without a status subresource: a write of the object writes its status too. */
function definition({ group, version, kind, plural, spec, status, columns, annotations }: Definition): object {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(columns === undefined ? {} : { additionalPrinterColumns: columns }),
          schema: { openAPIV3Schema: object({ spec, ...(status === undefined ? {} : { status }) }) },
        },
      ],
    },
  };
}

const foo = definition({
  group: 'samplecontroller.k8s.io',
  version: 'v1alpha1',
  kind: 'Foo',
  plural: 'foos',
  // The API server takes no definition of a group of k8s.io without it.
  annotations: { 'api-approved.kubernetes.io': 'unapproved, an example' },
  spec: object({ deploymentName: text, replicas: { type: 'integer', minimum: 1, maximum: 10 } }),
  status: object({ availableReplicas: { type: 'integer' } }),
});

const component = object({ image: text, name: text });

const cloudManager = definition({
  group: 'cloudmanagercontroller.huayun.com',
  version: 'v1',
  kind: 'CloudManager',
  plural: 'cloudmanagers',
  columns: [{ name: 'Status', type: 'string', jsonPath: '.status.phase' }],
  spec: object({
    front: object({ deployment: component }),
    identity: object({ deployment: component }),
    db: object({
      statefulSet: object({
        image: text,
        name: text,
        storage: object({ class: text, accessModes: { type: 'array', items: text }, size: text }),
      }),
    }),
  }),
  status: phase,
});

const store = { group: 'apps.titanide.cn', version: 'v1alpha1' };

const template = definition({
  ...store,
  kind: 'Template',
  plural: 'templates',
  spec: object({ engine: text, parameters: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } }),
});

const redis = definition({
  ...store,
  kind: 'Redis',
  // As the definitions of Redis operators have it: the plural is the singular.
  plural: 'redis',
  spec: object({ version: text, templateName: text }),
  status: phase,
});

const mysql = definition({
  ...store,
  kind: 'MySQL',
  plural: 'mysqls',
  spec: object({ image: object({ tag: text }), templateName: text }),
  status: phase,
});

export const platformCrds: readonly object[] = [foo, cloudManager, template, redis, mysql];

/** The file of `--abstract-kinds`. */
export const abstractKinds = `
abstractKinds:
  - name: appInstances
    columns:
      engine: String
      version: String
    members:
      - resource: redis.apps.titanide.cn
        columns: { engine: { value: redis }, version: spec.version }
      - resource: mysqls.apps.titanide.cn
        columns: { engine: { value: mysql }, version: spec.image.tag }
`;

/** The file of `--relations`: what the schemas do not say. */
export const relations = `
relations:
  - { from: Foo.samplecontroller.k8s.io, name: deployment, to: Deployment.apps, reverse: foos, at: [spec.deploymentName] }
  - { from: CloudManager.cloudmanagercontroller.huayun.com, name: deployments, to: Deployment.apps, reverse: cloudManager, owns: true }
  - { from: CloudManager.cloudmanagercontroller.huayun.com, name: statefulSets, to: StatefulSet.apps, reverse: cloudManager, owns: true }
  - { from: CloudManager.cloudmanagercontroller.huayun.com, name: secrets, to: Secret, reverse: cloudManager, owns: true }
  - from: CloudManager.cloudmanagercontroller.huayun.com
    name: storageClass
    to: StorageClass.storage.k8s.io
    reverse: cloudManagers
    at: [spec.db.statefulSet.storage.class]
`;
