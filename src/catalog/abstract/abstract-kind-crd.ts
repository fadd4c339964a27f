/**
 * The CustomResourceDefinition of AbstractKind: an object whose `spec` is an entry of the file of abstract kinds.
 *
 * The API server refuses what the schema can say. readAbstractKinds says the rest: sources recurse, and a structural schema cannot.
 * The name and the type cannot change, so an object never takes the name of one that came later.
 */
import { stringify } from 'yaml';
import { most as mostOfConditions } from '../health/read-health-rules.ts';
import { splitResourceKey } from '../resources/resource.ts';
import { abstractKindObjectsKey, columnTypes } from './abstract-kind.ts';
import { most } from './read-abstract-kinds.ts';

const [plural, group] = splitResourceKey(abstractKindObjectsKey);

/** A value of any type. readAbstractKinds checks it. */
const any = { 'x-kubernetes-preserve-unknown-fields': true } as const;
const text = (maxLength: number) => ({ type: 'string', maxLength });
const identifier = (first: string) => ({ ...text(100), pattern: `^${first}[A-Za-z0-9]*$` });

const columns = {
  type: 'object',
  description:
    'The columns by name. Each is a type, or an object with type, description and, for texts, the values that it may have.',
  minProperties: 1,
  maxProperties: most.columns,
  // Without a type, so that a text and an object are valid. The pattern is about a text, and the others are about an object.
  additionalProperties: {
    ...any,
    pattern: `^(${columnTypes.join('|')})$`,
    required: ['type'],
    properties: {
      type: { type: 'string', enum: [...columnTypes, 'Enum'] },
      description: text(1000),
      values: { type: 'array', minItems: 1, maxItems: most.values, items: text(4096) },
    },
  },
};

const labels = {
  type: 'object',
  description: 'A label selector.',
  properties: {
    matchLabels: { type: 'object', additionalProperties: text(63), maxProperties: 64 },
    matchExpressions: {
      type: 'array',
      maxItems: 64,
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: text(317),
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: { type: 'array', maxItems: 200, items: text(63) },
        },
      },
    },
  },
};

const member = {
  type: 'object',
  required: ['resource'],
  properties: {
    resource: {
      ...text(317),
      description:
        'The plural and the group of the kind, such as redises.cache.example.com; the plural alone for the core group.',
      pattern: '^[a-z0-9-]+(\\.[-a-z0-9.]+)?$',
      'x-kubernetes-validations': [
        { rule: "!self.endsWith('.abstract')", message: 'an abstract kind cannot be a member' },
      ],
    },
    where: {
      type: 'object',
      description: 'Conditions by path: only objects for which they hold.',
      minProperties: 1,
      maxProperties: mostOfConditions.tests,
      additionalProperties: any,
    },
    labels,
    columns: {
      type: 'object',
      description: 'Where each column comes from: a path, or one of value, firstOf, concat, and of with map.',
      maxProperties: most.columns,
      additionalProperties: any,
    },
  },
};

const spec = {
  type: 'object',
  required: ['name', 'columns', 'members'],
  properties: {
    name: { ...identifier('[a-z]'), description: "The list's field, in the plural: appInstances." },
    type: {
      ...identifier('[A-Z]'),
      description: 'The type; by default the name without its last s, with a capital: AppInstance.',
    },
    description: { ...text(4000), description: 'What the schema says of the type.' },
    columns,
    members: {
      type: 'array',
      description: 'The kinds whose objects are in the list.',
      minItems: 1,
      maxItems: most.members,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['resource'],
      items: member,
    },
  },
  'x-kubernetes-validations': [
    { rule: 'self.name == oldSelf.name', message: 'the name cannot change; create another object' },
    {
      rule: 'has(self.type) == has(oldSelf.type) && (!has(self.type) || self.type == oldSelf.type)',
      message: 'the type cannot change; create another object',
    },
  ],
};

/** The manifest as YAML, for `kubectl apply`. */
export function abstractKindCrdText(): string {
  return stringify(abstractKindCrd(), { lineWidth: 0, aliasDuplicateObjects: false });
}

function abstractKindCrd(): Readonly<Record<string, unknown>> {
  const description =
    'One list of Portolan over several kinds of this cluster, with columns that are mapped from each. It is an entry of the file of abstract kinds.';
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: abstractKindObjectsKey },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural, singular: 'abstractkind', kind: 'AbstractKind', listKind: 'AbstractKindList' },
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          additionalPrinterColumns: [
            { name: 'List', type: 'string', jsonPath: '.spec.name' },
            { name: 'Type', type: 'string', jsonPath: '.spec.type' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description,
              required: ['spec'],
              properties: {
                apiVersion: { type: 'string' },
                kind: { type: 'string' },
                metadata: { type: 'object' },
                spec,
              },
            },
          },
        },
      ],
    },
  };
}
