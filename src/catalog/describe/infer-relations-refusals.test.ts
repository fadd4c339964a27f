/** inferRelations refuses some relations and gives the reasons. Others it does not mention. */
import { describe, expect, test } from 'vitest';
import {
  infer,
  key,
  kind,
  kinds,
  linesOf,
  name,
  namespace,
  type Short,
  schemaOf,
  source,
  treeOf,
} from '../../../test/kit/inferred-relations.ts';
import { normalizeTree } from '../tree/normalize-tree.ts';
import { SchemaWalker } from '../tree/walk-schema.ts';
import { inferRelations } from './infer-relations.ts';

describe('inferRelations refuses', () => {
  test.each<readonly [string, Short, string, string]>([
    ['a kind that nothing tells', { credentialsRef: { name } }, 'spec.credentialsRef', 'does not say which kind'],
    ['an empty name', { ref: { name, key } }, 'spec.ref', 'does not say which kind'],
    ['a Kind without a group', { targetRef: { kind, name } }, 'spec.targetRef', 'a Kind without its group'],
    [
      'an object of an external API',
      { secretRef: { name, external: key } },
      'spec.secretRef',
      'does not say which kind',
    ],
    ['two kinds', { serviceRef: { name } }, 'spec.serviceRef', 'Service of a.example.io as well as Service of core'],
    [
      'two kinds of a name',
      { nested: { serviceName: name, servicePort: name } },
      'spec.nested.serviceName',
      'as well as',
    ],
    ['its own name', { fooName: name }, 'spec.fooName', 'the object itself'],
    [
      'a namespace that may be of another name',
      { namespace, secretName: name },
      'spec.secretName',
      'namespace beside it',
    ],
    [
      'one namespace of several names',
      { secretNames: [name], secretNamespace: name },
      'spec.secretNames[]',
      'namespace beside it',
    ],
    [
      'what is not served',
      { clusterRef: { '#': 'Reference to a X in b to populate y.', name } },
      'spec.clusterRef',
      'X of b.example.io is not served',
    ],
    ['a name of the data', { foo: { zoneName: name } }, 'spec.foo.zoneName', 'has a field with the name fooZone'],
    ['a name of every object', { cluster: { name } }, 'spec.cluster', 'has a field with the name cluster'],
    ['a path that no name can begin with', { 1: { secretName: name } }, 'spec.1.secretName', 'no name begins'],
  ])('%s', (_, spec, path, reason) => {
    const { relations, skipped } = inferRelations(source, treeOf({ spec, fooZone: key }), kinds);
    expect(relations).toEqual([]);
    expect(skipped).toEqual([{ path, reason: expect.stringContaining(reason) }]);
  });

  test.each<readonly [string, Short]>([
    [
      'names of other things',
      { displayName: name, hostNames: [name], keyName: name, serviceAccount: name, secret: name },
    ],
    ['names that end like a kind of the group', { remoteClusterName: name }],
    ['names of kinds of other groups', { issuerName: name, diskName: name }],
    ['texts under Ref that may be no name', { nodeRef: name, policyRef: name, caRef: name }],
    ['names of Services and volumes that stand alone', { grpcServiceName: name, volumeName: name, claimName: name }],
    [
      'objects that may be more than a reference',
      {
        env: [{ name, value: key }],
        md5: { name, key },
        policy: { name, effect: kind },
        secret: { name, data: key },
        sourcePolicy: { name },
      },
    ],
    [
      'objects without a name',
      { secretRef: { secretKey: name }, policyRef: { id: name }, clusterRef: true, flagName: true },
    ],
    [
      'status and metadata, also in embedded objects',
      { template: { metadata: { ownerReferences: [{ apiVersion: key, kind, name }] }, status: { secretName: name } } },
    ],
    [
      'selectors of Crossplane',
      { zoneSelector: { matchLabels: { name } }, zoneIdSelector: { policy: { resolve: key } } },
    ],
    [
      'parts of Pods',
      {
        containers: [
          { name, image: key, env: [{ valueFrom: { secretKeyRef: { name, key } } }], volumeMounts: [{ name }] },
        ],
        volumes: [{ name, emptyDir: { medium: key }, hostPath: { path: key }, secret: { secretName: name } }],
        template: {
          spec: {
            serviceAccountName: name,
            containers: [{ name, image: key, env: [{ name }], volumeMounts: [{ name }] }],
          },
        },
      },
    ],
    ['a name that a reference beside it resolves to', { zoneName: name, zoneRef: { from: { name } } }],
  ])('and does not mention %s', (_, spec) => {
    expect(infer(spec)).toEqual({ relations: [], skipped: [] });
  });

  test('places below free JSON and maps', () => {
    const walker = new SchemaWalker();
    const secretRef = schemaOf({ secretRef: { name } });
    const properties = {
      spec: {
        type: 'object',
        properties: {
          free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          map: { type: 'object', additionalProperties: secretRef },
          list: { type: 'array', items: secretRef },
        },
      },
    };
    const tree = normalizeTree(walker.root({ properties }), walker.drafts);
    expect(linesOf(inferRelations(source, tree, kinds))).toEqual([
      'listSecrets* spec.list[].secretRef{name} -> Secret',
    ]);
  });

  test('plain names of kinds that stand for objects of an external API', () => {
    const spec: Short = { secretName: name, zoneName: name, passwordSecretRef: { name, key } };
    const line = 'passwordSecret spec.passwordSecretRef{name} -> Secret';
    for (const tree of [
      treeOf({ spec, status: { ackResourceMetadata: { arn: name } } }),
      treeOf({ spec: { ...spec, azureName: name } }),
    ])
      expect(linesOf(inferRelations(source, tree, kinds))).toEqual([line]);
  });

  test('both of two relations with one name, letter case ignored', () => {
    const { relations, skipped } = infer({
      secretRef: { name },
      secretName: name,
      tls: { caSecretName: name },
      tlsCA: { secretName: name },
    });
    expect(relations).toEqual([]);
    expect(skipped.map(({ path, reason }) => `${path}: ${reason}`)).toEqual([
      'spec.secretName: the name secret would be that of 2 relations',
      'spec.secretRef: the name secret would be that of 2 relations',
      'spec.tls.caSecretName: the name tlsCaSecret would be that of 2 relations',
      'spec.tlsCA.secretName: the name tlsCASecret would be that of 2 relations',
    ]);
  });

  test('kinds of kube-apiserver', () => {
    const tree = treeOf({ spec: { secretName: name } });
    expect(inferRelations({ ...source, group: 'apps' }, tree, kinds)).toEqual({ relations: [], skipped: [] });
  });

  test('more than 64 relations, the deepest first', () => {
    const deep = Object.fromEntries(Array.from({ length: 70 }, (_, i) => [`n${100 + i}SecretName`, name]));
    const { relations, skipped } = infer({ deep, zoneName: name });
    expect(relations).toHaveLength(64);
    expect(relations[0]?.name).toBe('zone');
    expect(skipped).toHaveLength(7);
    expect(skipped[0]).toEqual({ path: 'spec.deep.n163SecretName', reason: 'the kind has 64 relations already' });
  });
});
