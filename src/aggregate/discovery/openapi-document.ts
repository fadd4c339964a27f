/**
 * The OpenAPI v3 document of the door: `kubectl explain` reads its schemas. By the parameters of each verb, kubectl knows whether
 * the server takes `dryRun` and `fieldValidation`.
 *
 *   /openapi/v3                  index: { paths: { "apis/G/V": { serverRelativeURL: "/openapi/v3/apis/G/V?hash=H" } } }
 *   /openapi/v3/apis/G/V         the document; H changes exactly with it, so clients keep it by its URL
 */
import { createHash } from 'node:crypto';
import { apiVersionOf, kind, listKind, plural, type ServedApi } from '../protocol/served-api.ts';

interface OpenApi {
  /** The path of the document without its query. */
  readonly path: string;
  readonly index: string;
  readonly document: string;
  /** SHA-256 of the document, in upper-case hexadecimal as API servers write it. */
  readonly hash: string;
}

/** The index and the document of the group version, with the hash of their content (OpenAPI 3.0, as kube-apiserver serves it). */
export function openApiOf(api: ServedApi): OpenApi {
  const document = JSON.stringify(documentOf(api));
  const hash = createHash('sha256').update(document).digest('hex').toUpperCase();
  const name = `apis/${apiVersionOf(api)}`;
  const path = `/openapi/v3/${name}`;
  return {
    path,
    document,
    hash,
    index: JSON.stringify({ paths: { [name]: { serverRelativeURL: `${path}?hash=${hash}` } } }),
  };
}

type Schema = Readonly<Record<string, unknown>>;

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const text = (description: string): Schema => ({ type: 'string', description });
const list = (items: Schema, description: string): Schema => ({ type: 'array', items, description });
const texts = (description: string): Schema => ({
  type: 'object',
  additionalProperties: { type: 'string' },
  description,
});
const ref = (name: string, description: string): Schema => ({
  description,
  default: {},
  allOf: [{ $ref: `#/components/schemas/${name}` }],
});

const apiVersion = text('The versioned schema of this representation of an object.');
const kindOf = text('The REST resource that this object represents.');
const anyObject: Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const spec: Schema = {
  type: 'object',
  description: 'The objects that are submitted as one.',
  properties: {
    flowList: list(
      {
        ...anyObject,
        'x-kubernetes-embedded-resource': true,
        required: ['apiVersion', 'kind', 'metadata'],
        properties: {
          apiVersion,
          kind: kindOf,
          metadata: { ...anyObject, description: 'The name of the object. Its namespace is that of this object.' },
        },
      },
      'The objects, in the submitted order. A read shows the values that the objects have now, of the fields that were submitted. An object that you may not get stands as its apiVersion, kind and name.',
    ),
  },
};

const member: Schema = {
  type: 'object',
  properties: {
    apiVersion,
    kind: kindOf,
    name: text('The name of the object.'),
    uid: text('The uid of the object that was applied. Absent before that, and for an object that you may not get.'),
    state: text(
      'Present; Missing: it is gone; Replaced: another object has its name; Pending: not applied yet; Leaving: no longer submitted and not deleted yet; Hidden: you may not get it; Unknown: Portolan does not read its kind.',
    ),
    health: text('Current, InProgress, Failed, Suspended, Terminating or Unknown, by the rules of kstatus.'),
    message: text('Why the object is not Current.'),
  },
};

const status: Schema = {
  type: 'object',
  description: 'What the objects are now.',
  properties: {
    observedGeneration: { type: 'integer', format: 'int64', description: 'The generation that this status is of.' },
    phase: text('Applying, Applied or Deleting.'),
    ready: text('The number of objects that are present and Current, of how many.'),
    members: list(member, 'The state of each object, those that leave last.'),
    conditions: list(
      {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: text('Ready.'),
          status: text('True, False or Unknown.'),
          reason: text('Why, as one word.'),
          message: text('Why, for people.'),
          observedGeneration: { type: 'integer', format: 'int64', description: 'The generation that it is of.' },
        },
      },
      'Ready is True if everything was applied, and each object that you may get is present and Current.',
    ),
  },
};

const objectMeta: Schema = {
  type: 'object',
  description: 'Metadata that all persisted resources have.',
  properties: {
    annotations: texts('Unstructured data of tools.'),
    creationTimestamp: { type: 'string', format: 'date-time', description: 'When the object was created.' },
    deletionTimestamp: { type: 'string', format: 'date-time', description: 'When its deletion was asked for.' },
    generateName: text('A prefix for a name that the server chooses.'),
    generation: { type: 'integer', format: 'int64', description: 'Counts what was submitted.' },
    labels: texts('Keys and values by which objects are selected.'),
    managedFields: list(anyObject, 'Which managers own which fields.'),
    name: text('Unique in the namespace.'),
    namespace: text('The namespace of the object and of its members.'),
    ownerReferences: list(anyObject, 'The objects that own this one.'),
    finalizers: list({ type: 'string' }, 'What must be done before the object is gone.'),
    resourceVersion: text('The version of the object and of its members.'),
    uid: text('Unique in time and space.'),
  },
};

const listMeta: Schema = {
  type: 'object',
  description: 'Metadata of lists.',
  properties: {
    continue: text('The token of the next page.'),
    remainingItemCount: { type: 'integer', format: 'int64', description: 'The number of objects after this page.' },
    resourceVersion: text('The version of the list, for watches that begin at it.'),
  },
};

function documentOf(api: ServedApi): object {
  const name = schemaName(api, kind);
  const gvk = { group: api.group, version: api.version, kind };
  const base = `/apis/${apiVersionOf(api)}`;
  const inNamespace = `${base}/namespaces/{namespace}/${plural}`;
  const one = name;
  const many = schemaName(api, listKind);
  const operation = (action: string, parameters: readonly Schema[], schema: string, hasBody = false): Schema => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': gvk,
    parameters,
    ...(hasBody ? { requestBody: { content: contentOf(one) } } : {}),
    responses: { 200: { description: 'OK', content: contentOf(schema) } },
  });
  const lists = [
    ...selection,
    query('watch', 'boolean'),
    query('allowWatchBookmarks', 'boolean'),
    query('sendInitialEvents', 'boolean'),
  ];
  const writes = ['dryRun', 'fieldManager', 'fieldValidation'].map((each) => query(each, 'string'));
  const patch = {
    ...operation('patch', [...writes, query('force', 'boolean')], one),
    requestBody: {
      content: Object.fromEntries(
        ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'].map((type) => [
          type,
          { schema: { $ref: `#/components/schemas/${meta}.Patch` } },
        ]),
      ),
    },
  };
  return {
    openapi: '3.0.0',
    info: { title: 'Portolan', version: api.version },
    paths: {
      [`${base}/${plural}`]: { get: operation('list', lists, many) },
      [inNamespace]: {
        parameters: [path('namespace')],
        get: operation('list', lists, many),
        post: operation('post', writes, one, true),
      },
      [`${inNamespace}/{name}`]: {
        parameters: [path('namespace'), path('name')],
        get: operation('get', [], one),
        put: operation('put', writes, one, true),
        patch,
        delete: operation('delete', [query('dryRun', 'string'), query('propagationPolicy', 'string')], one),
      },
    },
    components: {
      schemas: {
        [one]: {
          type: 'object',
          description: 'Several objects that are submitted, shown and deleted as one.',
          properties: {
            apiVersion,
            kind: kindOf,
            metadata: ref(`${meta}.ObjectMeta`, 'Standard metadata.'),
            spec,
            status,
          },
          'x-kubernetes-group-version-kind': [gvk],
        },
        [many]: {
          type: 'object',
          required: ['items'],
          properties: {
            apiVersion,
            kind: kindOf,
            metadata: ref(`${meta}.ListMeta`, 'Standard metadata of lists.'),
            items: list({ $ref: `#/components/schemas/${one}` }, 'The objects.'),
          },
          'x-kubernetes-group-version-kind': [{ ...gvk, kind: listKind }],
        },
        [`${meta}.ObjectMeta`]: objectMeta,
        [`${meta}.ListMeta`]: listMeta,
        [`${meta}.Patch`]: { type: 'object', description: 'A patch of an object.' },
      },
    },
  };
}

const selection: readonly Schema[] = [
  query('continue', 'string'),
  query('fieldSelector', 'string'),
  query('labelSelector', 'string'),
  query('limit', 'integer'),
  query('resourceVersion', 'string'),
  query('resourceVersionMatch', 'string'),
  query('timeoutSeconds', 'integer'),
];

function query(name: string, type: string): Schema {
  return { name, in: 'query', schema: { type, uniqueItems: true } };
}

function path(name: string): Schema {
  return { name, in: 'path', required: true, schema: { type: 'string', uniqueItems: true } };
}

function contentOf(schema: string): Schema {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } };
}

/** The name of a schema as API servers write it: the domain of the group reversed. */
function schemaName({ group, version }: ServedApi, of: string): string {
  return [...group.split('.').toReversed(), version, of].join('.');
}
