/**
 * The CustomResourceDefinition of ShadowRecord. `portolan shadow install` applies it, and the chart has it.
 *
 * The label says that a record is the parent of an ApplySet: kubectl looks for it before it prunes.
 */
import { stringify } from 'yaml';
import { applySetLabels } from './set-names.ts';
import { mostMembers, recordResource } from './set-record.ts';

const { group, version, plural, kind } = recordResource;

const text = (maxLength: number) => ({ type: 'string', maxLength });
/** A name of Kubernetes. */
const name = { ...text(253), minLength: 1 };

const member = {
  type: 'object',
  required: ['version', 'kind', 'resource', 'namespace', 'name'],
  properties: {
    group: { ...text(253), description: 'Absent for the core group.' },
    version: { ...text(63), minLength: 1 },
    kind: { ...text(63), minLength: 1 },
    resource: { ...text(63), minLength: 1, description: 'The plural.' },
    namespace: { ...text(63), minLength: 1 },
    name,
    uid: { ...text(128), minLength: 1, description: 'Absent until the member was applied.' },
    fields: {
      type: 'object',
      description: 'The names of the fields of the last apply (fieldsV1), without values.',
      'x-kubernetes-preserve-unknown-fields': true,
    },
    leaves: { type: 'boolean', description: 'No longer submitted, and to be deleted.' },
  },
};

const spec = {
  type: 'object',
  required: ['generation', 'phase'],
  properties: {
    generation: { type: 'integer', format: 'int64', minimum: 0, description: 'Counts what was submitted.' },
    phase: { type: 'string', enum: ['Applying', 'Applied', 'Deleting'] },
    members: {
      type: 'array',
      maxItems: mostMembers.recorded,
      description: 'In the submitted order. Members that leave stand after them.',
      'x-kubernetes-list-type': 'atomic',
      items: member,
    },
    lastApplied: { ...text(262_144), description: "kubectl's annotation, without withheld values." },
  },
};

/** The manifest as YAML, for `kubectl apply`. */
export function shadowRecordCrdText(): string {
  return stringify(shadowRecordCrd(), { lineWidth: 0, aliasDuplicateObjects: false });
}

/** The manifest, for `apiextensions.k8s.io/v1`. */
export function shadowRecordCrd(): Readonly<Record<string, unknown>> {
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, labels: { [applySetLabels.isParentType]: 'true' } },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, singular: 'shadowrecord', kind, listKind: 'ShadowRecordList' },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: [
            { name: 'Phase', type: 'string', jsonPath: '.spec.phase' },
            { name: 'Generation', type: 'integer', jsonPath: '.spec.generation' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: {
            openAPIV3Schema: {
              type: 'object',
              description:
                'The record of a set of objects that Portolan applies, shows and deletes as one: which objects are its members.',
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
