/** The relations that inferRelations finds in schemas, and properties of its result for any schema. */
import { describe, expect, test } from 'vitest';
import { crdFolder, loadCrds } from '../../../test/kit/crds.ts';
import {
  clusterScoped,
  elsewhere,
  infer,
  key,
  kind,
  kinds,
  lineOf,
  linesOf,
  name,
  namespace,
  optional,
  placeOf,
  type Short,
  served,
  source,
  treeOf,
} from '../../../test/kit/inferred-relations.ts';
import { fieldName } from '../names/field-names.ts';
import { filterFields, injectedFields } from '../names/reserved-names.ts';
import { resolvePath } from '../paths/resolve-path.ts';
import { placeOfText, placeText } from '../relations/place-text.ts';
import type { ReferencePlace } from '../relations/relation.ts';
import type { FieldTree, FieldType } from '../tree/field-tree.ts';
import { joinPaths } from '../tree/path.ts';
import { describeResource } from './describe.ts';
import { resourceOfCrd } from './from-crd.ts';
import { inferRelations } from './infer-relations.ts';

describe('inferRelations finds', () => {
  test.each<readonly [string, Short, readonly string[]]>([
    ['well-known names', { secretName: name }, ['secret spec.secretName -> Secret']],
    [
      'well-known names with a prefix',
      {
        tlsCASecretName: name,
        cacheStorageClassName: name,
        existingPersistentVolumeClaimName: name,
        localPVCName: name,
      },
      [
        'cacheStorageClass spec.cacheStorageClassName -> StorageClass.storage.k8s.io',
        'existingPersistentVolumeClaim spec.existingPersistentVolumeClaimName -> PersistentVolumeClaim',
        'localPVC spec.localPVCName -> PersistentVolumeClaim',
        'tlsCASecret spec.tlsCASecretName -> Secret',
      ],
    ],
    [
      'classes, accounts and Nodes',
      {
        pod: { serviceAccountName: name, priorityClassName: name, runtimeClassName: name, nodeName: name },
        ingressClassName: name,
      },
      [
        'ingressClass spec.ingressClassName -> IngressClass.networking.k8s.io',
        'podNode spec.pod.nodeName -> Node',
        'podPriorityClass spec.pod.priorityClassName -> PriorityClass.scheduling.k8s.io',
        'podRuntimeClass spec.pod.runtimeClassName -> RuntimeClass.node.k8s.io',
        'podServiceAccount spec.pod.serviceAccountName -> ServiceAccount',
      ],
    ],
    [
      'names in lists, in the plural',
      {
        secretNames: [name],
        tls: [{ secretName: name }],
        ingresses: [{ ingressClassName: name }],
        parts: [{ policyName: name }],
      },
      [
        'secrets* spec.secretNames[] -> Secret',
        'ingressesIngressClasses* spec.ingresses[].ingressClassName -> IngressClass.networking.k8s.io',
        'partsPolicies* spec.parts[].policyName -> Policy.a.example.io',
        'tlsSecrets* spec.tls[].secretName -> Secret',
      ],
    ],
    [
      'names whose neighbours tell what they name',
      {
        claim: { spec: { volumeName: name, accessModes: [key] } },
        volume: { claimName: name, readOnly: true },
      },
      [
        'volumeClaim spec.volume.claimName -> PersistentVolumeClaim',
        'claimSpecVolume spec.claim.spec.volumeName -> PersistentVolume',
      ],
    ],
    [
      'a namespace beside a name',
      {
        auth: { secretName: name, secretNamespace: namespace },
        users: [{ tokenSecretName: name, tokenSecretNamespace: namespace }],
      },
      [
        'authSecret spec.auth{secretName @ secretNamespace} -> Secret',
        'usersTokenSecrets* spec.users[]{tokenSecretName @ tokenSecretNamespace} -> Secret',
      ],
    ],
    [
      'names of kinds of the same group, by Kind and by plural',
      { clusterName: name, policyNames: [name], zoneName: name },
      [
        'clusterName spec.clusterName -> Cluster.a.example.io',
        'policies* spec.policyNames[] -> Policy.a.example.io',
        'zone spec.zoneName -> Zone.a.example.io',
      ],
    ],
    [
      'objects with a name under Ref',
      {
        secretRef: { name },
        config: { configMapRef: { name, optional } },
        serviceAccountRef: { name, audiences: [key] },
        policyReference: { name, namespace },
        clusterRefs: [{ name }],
        sourceClusterRef: { name },
        writeConnectionSecretToRef: { name, namespace },
      },
      [
        'clusterRefs* spec.clusterRefs[]{name} -> Cluster.a.example.io',
        'policy spec.policyReference{name @ namespace} -> Policy.a.example.io',
        'secret spec.secretRef{name} -> Secret',
        'serviceAccount spec.serviceAccountRef{name} -> ServiceAccount',
        'sourceCluster spec.sourceClusterRef{name} -> Cluster.a.example.io',
        'writeConnectionSecretTo spec.writeConnectionSecretToRef{name @ namespace} -> Secret',
        'configConfigMap spec.config.configMapRef{name} -> ConfigMap',
      ],
    ],
    [
      'names alone under Ref',
      { secretRef: name, configMapRefs: [name] },
      ['configMaps* spec.configMapRefs[] -> ConfigMap', 'secret spec.secretRef -> Secret'],
    ],
    [
      'selectors of keys',
      {
        env: [{ valueFrom: { secretKeyRef: { name, key, optional }, configMapKeyRef: { name, key, optional } } }],
        passwordSecret: { name, key },
        sqlConfigMapKeyRef: { name, key },
        token: { name, key, optional },
        userRef: { name, key },
      },
      [
        'passwordSecret spec.passwordSecret{name} -> Secret',
        'sqlConfigMapKey spec.sqlConfigMapKeyRef{name} -> ConfigMap',
        'token spec.token{name} -> Secret',
        'user spec.userRef{name} -> Secret',
        'envValueFromConfigMapKeys* spec.env[].valueFrom.configMapKeyRef{name} -> ConfigMap',
        'envValueFromSecretKeys* spec.env[].valueFrom.secretKeyRef{name} -> Secret',
      ],
    ],
    [
      'objects with a name only, after their kind',
      {
        imagePullSecrets: [{ name }],
        tls: { secret: { name, namespace } },
        policy: { name },
        source: { pvc: { name, namespace } },
      },
      [
        'imagePullSecrets* spec.imagePullSecrets[]{name} -> Secret',
        'policy spec.policy{name} -> Policy.a.example.io',
        'sourcePvc spec.source.pvc{name @ namespace} -> PersistentVolumeClaim',
        'tlsSecret spec.tls.secret{name @ namespace} -> Secret',
      ],
    ],
    [
      'the kind that the reference states',
      {
        dataSourceRef: { apiGroup: key, kind, name, namespace },
        issuerRef: { group: key, kind, name },
        targetRefs: [{ apiVersion: key, kind, name }],
        policyRef: { kind, name },
        subject: { ref: { apiVersion: key, kind, name } },
      },
      [
        'dataSource spec.dataSourceRef{name @ namespace} -> any by apiGroup',
        'issuer spec.issuerRef{name} -> any by group, else Issuer.example.io',
        'policy spec.policyRef{name} -> any by kind, else Policy.a.example.io',
        'targets* spec.targetRefs[]{name} -> any by apiVersion',
        'subject spec.subject.ref{name} -> any by apiVersion',
      ],
    ],
    [
      'references below a reference',
      { policyRef: { name, namespace, secretName: name } },
      [
        'policy spec.policyRef{name @ namespace} -> Policy.a.example.io',
        'policyRefSecret spec.policyRef.secretName -> Secret',
      ],
    ],
  ])('%s', (_, spec, expected) => {
    const inferred = infer(spec);
    expect(inferred.skipped).toEqual([]);
    expect(linesOf(inferred)).toEqual(expected);
  });

  test('what is of parent groups, and of sister groups', () => {
    expect(linesOf(infer({ issuerRef: { name } }))).toEqual(['issuer spec.issuerRef{name} -> Issuer.example.io']);
    expect(linesOf(infer({ accountRef: { name }, diskRef: { name } }, elsewhere))).toEqual([
      'account spec.accountRef{name} -> Account.d.c.example.io',
      'disk spec.diskRef{name} -> Disk.b.c.example.io',
    ]);
    expect(linesOf(infer({ accountRef: { name }, diskRef: { name } }))).toEqual([]);
    expect(linesOf(infer({ sourceDiskRef: { name } }, elsewhere))).toEqual([]);
  });

  test('what a cluster-scoped object mentions, if the namespace is stated or the kind has none', () => {
    const { relations, skipped } = infer(
      {
        secretRef: { name, namespace },
        tls: { secretName: name },
        zoneName: name,
        anyRef: { apiVersion: key, kind, name },
        clusterRef: { name },
      },
      clusterScoped,
    );
    expect(relations.map(lineOf)).toEqual([
      'any spec.anyRef{name} -> any by apiVersion',
      'secret spec.secretRef{name @ namespace} -> Secret',
      'zone spec.zoneName -> Zone.a.example.io',
    ]);
    expect(skipped).toEqual([
      { path: 'spec.clusterRef', reason: expect.stringContaining('namespaced Cluster without its namespace') },
      { path: 'spec.tls.secretName', reason: expect.stringContaining('namespaced Secret without its namespace') },
    ]);
  });

  test('what stands at the root', () => {
    const tree = treeOf({
      parts: [{ secretRef: { name } }],
      policyName: name,
      secretName: name,
      secretNamespace: namespace,
    });
    const { relations, skipped } = inferRelations(source, tree, kinds);
    expect(relations.map(lineOf)).toEqual([
      'policy policyName -> Policy.a.example.io',
      'partsSecrets* parts[].secretRef{name} -> Secret',
    ]);
    expect(skipped).toEqual([{ path: 'secretName', reason: expect.stringContaining('at the root') }]);
  });

  test('the kinds that Crossplane states in descriptions', () => {
    const of = (description: string): Short => ({ '#': description, name, policy: { resolve: key } });
    const parameters: Short = {
      urlRef: of('Reference to a Disk in b to populate url.'),
      policyRef: of('Reference to a Service to populate policy.'),
      zones: { zoneRefs: [of('Without the kind.')] },
      secretSecretRef: { name, key },
      secretName: name,
      account: { name },
    };
    const spec: Short = {
      forProvider: parameters,
      initProvider: parameters,
      accountRef: { name, policy: { resolve: key } },
    };
    const all = [...kinds, served('Service.a.c.example.io'), served('Zone.a.c.example.io')];
    const { relations, skipped } = inferRelations(elsewhere, treeOf({ spec }), all);
    expect(relations.map(lineOf)).toEqual([
      'account spec.accountRef{name} -> Account.d.c.example.io',
      'forProviderPolicy spec.forProvider.policyRef{name} -> Service.a.c.example.io',
      'forProviderSecretSecret spec.forProvider.secretSecretRef{name} -> Secret',
      'forProviderUrl spec.forProvider.urlRef{name} -> Disk.b.c.example.io',
      'initProviderPolicy spec.initProvider.policyRef{name} -> Service.a.c.example.io',
      'initProviderSecretSecret spec.initProvider.secretSecretRef{name} -> Secret',
      'initProviderUrl spec.initProvider.urlRef{name} -> Disk.b.c.example.io',
    ]);
    expect(skipped.map(({ path }) => path)).toEqual([
      'spec.forProvider.zones.zoneRefs[]',
      'spec.initProvider.zones.zoneRefs[]',
    ]);
  });

  test('Services, by the fields beside their names', () => {
    expect(linesOf(infer({ rules: [{ serviceName: name, servicePort: key }] }, elsewhere))).toEqual([
      'rulesServices* spec.rules[].serviceName -> Service',
    ]);
    expect(linesOf(infer({ backend: { serviceName: name, serviceNamespace: namespace } }, elsewhere))).toEqual([
      'backendService spec.backend{serviceName @ serviceNamespace} -> Service',
    ]);
    expect(infer({ telemetry: { serviceName: name } }, elsewhere)).toEqual({
      relations: [],
      skipped: [{ path: 'spec.telemetry.serviceName', reason: expect.stringContaining('its name alone') }],
    });
  });

  test('a name of its own for each path, with the suffix where the gateway has the short name', () => {
    const ref: Short = { apiVersion: key, kind, name };
    const names = infer({
      clusterName: name,
      healthRef: ref,
      pathRef: ref,
      snake_case: { 'kebab-case': { targetRef: ref } },
      TLS: { secretName: name },
      ref,
    }).relations.map((each) => each.name);
    expect(names).toEqual(['clusterName', 'healthRef', 'pathRef', 'ref', 'tlsSecret', 'snakeCaseKebabCaseTarget']);
  });
});

describe('inferRelations', () => {
  const leaf: FieldType = { kind: 'leaf', type: 'String' };

  test('reads no description of another place', () => {
    const of = (description: string): Short => ({ urlRef: { '#': description, name, policy: { resolve: key } } });
    const forProvider: Short = {
      a: of('Reference to a Zone in a to populate url.'),
      b: of('Reference to a Policy in a to populate url.'),
    };
    const { relations, skipped } = infer({ forProvider });
    expect(relations.map(lineOf)).toEqual(['forProviderAUrl spec.forProvider.a.urlRef{name} -> Zone.a.example.io']);
    expect(skipped.map(({ path }) => path)).toEqual(['spec.forProvider.b.urlRef']);
  });

  test('ends in a recursive schema', () => {
    const tree: FieldTree = {
      root: '$',
      shapes: {
        $: { key: '$', path: [], fields: [{ name: 'spec', type: { kind: 'object', shape: 'node' } }] },
        node: {
          key: 'node',
          path: ['spec'],
          fields: [
            { name: 'children', type: { kind: 'list', of: { kind: 'object', shape: 'node' } } },
            { name: 'secretName', type: leaf },
          ],
        },
      },
    };
    expect(linesOf(inferRelations(source, tree, kinds))).toEqual(['secret spec.secretName -> Secret']);
  });

  test('ends in a schema with very many paths', () => {
    const names = Array.from({ length: 16 }, (_, i) => `n${i + 10}`);
    const all = names.map((each) => ({ name: each, type: { kind: 'object', shape: each } as const }));
    const tree: FieldTree = {
      root: '$',
      shapes: Object.fromEntries([
        ['$', { key: '$', path: [], fields: all }],
        ...names.map(
          (each) => [each, { key: each, path: [each], fields: [...all, { name: 'secretName', type: leaf }] }] as const,
        ),
      ]),
    };
    const { relations } = inferRelations(source, tree, kinds);
    expect(relations).toHaveLength(64);
    expect(relations[0]?.name).toBe('n10Secret');
  });

  test('does not depend on the order of the kinds, nor on kinds given twice', () => {
    const spec: Short = {
      clusterRef: { name },
      issuerRef: { group: key, kind, name },
      secretRef: { name },
      serviceRef: { name },
    };
    const tree = treeOf({ spec });
    const expected = inferRelations(source, tree, kinds);
    expect(inferRelations(source, tree, kinds.toReversed())).toEqual(expected);
    expect(inferRelations(source, tree, [...kinds, ...kinds.map((each) => ({ ...each }))])).toEqual(expected);
  });

  test('makes relations without the other direction', () => {
    expect(infer({ targetRefs: [{ apiVersion: key, kind, name }], secretName: name }).relations).toMatchObject([
      {
        name: 'secret',
        source: { group: 'a.example.io', kind: 'Foo' },
        target: { group: '', kind: 'Secret' },
        many: false,
      },
      { name: 'targets', target: null, reverse: null, reverseOn: [], many: true, origin: 'INFERRED' },
    ]);
  });
});

describe.skipIf(crdFolder === null)('inferRelations of real CRDs', { timeout: 300_000 }, () => {
  test('has names that are free, places that the schema has, and the same result each time', () => {
    const described = loadCrds().flatMap(({ crd }) => {
      const resource = resourceOfCrd(crd);
      return resource === null ? [] : [describeResource({ cluster: 'one', resource, crd })];
    });
    const all = described.map(({ resource }) => resource);
    let count = 0;
    for (const { resource, tree } of described) {
      const { relations, skipped } = inferRelations(resource, tree, all);
      expect(inferRelations(resource, tree, all.toReversed())).toEqual({ relations, skipped });
      const names = relations.map((relation) => relation.name);
      const taken = [
        ...(tree.shapes[tree.root]?.fields ?? []).flatMap((field) => [field.name, fieldName(field.name, 'root')]),
        ...injectedFields,
        ...filterFields,
      ];
      const own = new Set(names.map((each) => each.toLowerCase()));
      expect(own.size).toBe(names.length);
      expect(taken.filter((each) => own.has(each.toLowerCase()))).toEqual([]);
      expect(names.filter((each) => !/^[a-z][A-Za-z0-9]*$/.test(each))).toEqual([]);
      expect(names.length).toBeLessThanOrEqual(64);
      for (const relation of relations) {
        const place = placeOf(relation);
        expect(resolvePath(tree, place.at)).toMatchObject({ many: relation.many, path: { text: place.at.text } });
        for (const below of [place.name, place.namespace, ...statedPaths(place)]) {
          if (below !== null && !('constant' in below))
            expect(resolvePath(tree, joinPaths(place.at, below)).type).toEqual({ kind: 'leaf', type: 'String' });
        }
        expect(placeOfText(placeText(place))).toEqual(place);
      }
      count += relations.length;
    }
    expect(count).toBeGreaterThan(described.length);
  });
});

function statedPaths({ target }: ReferencePlace) {
  return 'kindAt' in target ? [target.kindAt, target.groupAt?.path ?? null] : [];
}
