/** Options of the aggregated API server: its address, its certificate, the group of its kind and the kinds of members. */
import { granted, running } from './command-sets.ts';
import type { OptionDefinition } from './option-definition.ts';
import { apiGroup, apiVersion, flag, names, serviceName, text, whole } from './option-values.ts';

export const aggregateOptions = {
  aggregate: {
    key: 'aggregate',
    help: 'Serve the kind ShadowResource to kube-apiserver as an aggregated API server. It has a port of its own. rbac prints its rights too. doctor looks at what it needs, also without an APIService.',
    commands: [...granted, 'doctor'],
    schema: flag.default(false),
  },
  aggregateHost: {
    key: 'aggregateHost',
    value: 'address',
    help: 'Address on which --aggregate listens, if it is another one than --host.',
    commands: ['serve'],
    schema: text.optional(),
  },
  aggregatePort: {
    key: 'aggregatePort',
    value: 'number',
    help: 'Port of --aggregate on its address; 0 takes any free one.',
    commands: ['serve'],
    schema: whole(0, 65_535).default(4443),
  },
  aggregateGroup: {
    key: 'aggregateGroup',
    value: 'group',
    help: 'API group of ShadowResource.',
    commands: [...granted, 'doctor'],
    schema: apiGroup.default('shadow.portolan.dev'),
  },
  aggregateVersion: {
    key: 'aggregateVersion',
    value: 'version',
    help: 'API version of ShadowResource.',
    commands: [...granted, 'doctor'],
    schema: apiVersion.default('v1alpha1'),
  },
  aggregateService: {
    key: 'aggregateService',
    value: 'namespace/name',
    help: 'The Service of --aggregate. Portolan makes and renews its certificates, and tells kube-apiserver by the APIService.',
    commands: granted,
    schema: serviceName.optional(),
  },
  aggregateCert: {
    key: 'aggregateCert',
    value: 'file',
    isPath: true,
    help: 'Certificate of --aggregate in PEM, for SERVICE.NAMESPACE.svc. Read again when it changes.',
    commands: ['serve'],
    schema: text.optional(),
  },
  aggregateKey: {
    key: 'aggregateKey',
    value: 'file',
    isPath: true,
    help: 'Private key of --aggregate-cert in PEM.',
    commands: ['serve'],
    schema: text.optional(),
  },
  setKinds: {
    key: 'setKinds',
    value: 'names',
    list: true,
    help: 'Only these kinds may be members of sets: plural, plural.group or Kind, with * for any text. Otherwise all that docs/sets.md allows.',
    commands: [...running, 'rbac', 'doctor'],
    schema: names.default([]),
  },
} as const satisfies Record<string, OptionDefinition>;
