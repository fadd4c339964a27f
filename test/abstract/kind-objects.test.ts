/** Abstract kinds as objects: a gateway over two simulated clusters, whose AbstractKind objects come, change, break and go. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { abstractKindCrdText } from '../../src/catalog/abstract/abstract-kind-crd.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { kubeconfigFolder } from '../kit/kubeconfig-file.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const definition = parse(abstractKindCrdText()) as object;
const crdOf = (plural: string, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.example.com` },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: { version: { type: 'string' }, size: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
});
const crds = [definition, crdOf('redises', 'Redis'), crdOf('mysqls', 'MySQL')];
const member = { resource: 'redises.example.com', columns: { version: 'spec.version' } };
const apps = { name: 'apps', columns: { version: 'String' }, members: [member] };

function kindObject(name: string, spec: object) {
  return { apiVersion: 'portolan.dev/v1alpha1', kind: 'AbstractKind', metadata: { name }, spec };
}
const pathOf = (name: string): string => `/apis/portolan.dev/v1alpha1/abstractkinds/${name}`;

interface World {
  readonly east: SimCluster;
  readonly west: SimCluster;
  readonly gateway: RunningGateway;
  readonly restart: () => Promise<RunningGateway>;
}

/** A Redis `e` in east and `w` in west, and a MySQL `m` in both. */
async function world(flags: Readonly<Record<string, unknown>> = {}): Promise<World> {
  const folder = kubeconfigFolder();
  const clusters = await Promise.all(['east', 'west'].map(() => startSimCluster({ crds })));
  const [east, west] = clusters as [SimCluster, SimCluster];
  onTestFinished(async () => void (await Promise.all([east.close(), west.close()])));
  for (const [sim, name] of [
    [east, 'e'],
    [west, 'w'],
  ] as const) {
    const of = (kind: string, object: string) => ({
      apiVersion: 'example.com/v1',
      kind,
      metadata: { name: object, namespace: 'default' },
      spec: { version: `${object}1`, size: 3 },
    });
    sim.create(of('Redis', name));
    sim.create(of('MySQL', 'm'));
  }
  const named = [
    { name: 'east', kubeconfig: folder.file('east', east.kubeconfig()) },
    { name: 'west', kubeconfig: folder.file('west', west.kubeconfig()) },
  ];
  const data = join(temporaryDirectory('kind-objects'), 'portolan.db');
  let running: RunningGateway | null = null;
  const restart = async (): Promise<RunningGateway> => {
    await running?.close();
    // Of the kinds, only members: the objects are read in any case.
    const kinds = ['*.example.com', 'customresourcedefinitions'];
    running = await runGateway(named, { data, kinds, abstractKindObjects: ['*'], ...flags });
    return running;
  };
  onTestFinished(async () => running?.close());
  return { east, west, gateway: await restart(), restart };
}

async function versions(url: string, list = 'apps'): Promise<readonly string[]> {
  const { data, errors } = await ask<Record<string, { nodes: { cluster: string; version: string }[] }>>(
    url,
    `{ ${list}(orderBy: [{ path: "version" }]) { nodes { cluster version } } }`,
  );
  if (errors !== undefined) throw new Error(errors[0]?.message);
  return (data?.[list]?.nodes ?? []).map(({ cluster, version }) => `${cluster} ${version}`);
}

async function diagnostics(url: string, kind = 'abstractkinds.portolan.dev'): Promise<readonly string[]> {
  const { data } = await ask<{ resources: { cluster: string; diagnostics: string[] }[] }>(
    url,
    `{ resources(kinds: ["${kind}"]) { cluster diagnostics } }`,
  );
  return (data?.resources ?? []).flatMap(({ cluster, diagnostics: all }) => all.map((each) => `${cluster}: ${each}`));
}

test('an object makes a list of its own cluster; it changes, breaks, is repaired and goes', {
  timeout: 120_000,
}, async () => {
  const { east, west, gateway } = await world();
  const { url } = gateway;
  east.create(kindObject('a', apps));
  await eventually(async () => expect(await versions(url)).toEqual(['east e1']));
  // The same object elsewhere is the same list, with the rows of that cluster. Its members and columns may be others.
  west.create(
    kindObject('another', {
      ...apps,
      columns: { version: 'String', size: 'Int64' },
      members: [member, { resource: 'mysqls.example.com', columns: { version: 'spec.version', size: 'spec.size' } }],
    }),
  );
  await eventually(async () => expect(await versions(url)).toEqual(['east e1', 'west m1', 'west w1']));
  expect(await diagnostics(url)).toEqual([]);

  // A broken member costs that member, and a broken object costs itself.
  east.patch(pathOf('a'), {
    spec: {
      members: [
        { ...member, columns: { version: 'spec..version' } },
        { resource: 'mysqls.example.com', columns: { version: 'spec.verson' } },
      ],
    },
  });
  east.create(kindObject('b', { ...apps, name: 'others', columns: { health: 'String' } }));
  // Both rows are there without their value.
  await eventually(async () =>
    expect((await versions(url)).toSorted()).toEqual(['east null', 'east null', 'west m1', 'west w1']),
  );
  await eventually(async () => {
    const found = await diagnostics(url);
    expect(found.join('\n')).toMatch(/^east: AbstractKind a: the value version of .* is left out/m);
    expect(found.join('\n')).toMatch(
      /^east: AbstractKind b: the column health .*every object has a field of this name/m,
    );
    expect(await diagnostics(url, 'apps.abstract')).toEqual([
      expect.stringContaining(
        'east/mysqls.example.com: the column version names a path that the schema of mysqls.example.com does not have',
      ),
    ]);
  });
  east.patch(pathOf('a'), { spec: { members: [member, { resource: 'nothing.example.com' }] } });
  await eventually(async () => {
    expect(await versions(url)).toEqual(['east e1', 'west m1', 'west w1']);
    expect(await diagnostics(url)).toContain(
      'east: AbstractKind a: the cluster east does not serve these members, or this gateway leaves them out: nothing.example.com',
    );
  });
  // No kind changes with it.
  east.delete(pathOf('b'));
  await eventually(async () =>
    expect((await diagnostics(url)).map((each) => each.slice(0, 'east: AbstractKind a'.length))).toEqual([
      'east: AbstractKind a',
    ]),
  );
  east.delete(pathOf('a'));
  await eventually(async () => {
    expect(await versions(url)).toEqual(['west m1', 'west w1']);
    expect(await diagnostics(url)).toEqual([]);
  });
  // With the definition, the API server deletes the objects.
  west.delete('/apis/apiextensions.k8s.io/v1/customresourcedefinitions/abstractkinds.portolan.dev');
  await eventually(async () => expect(versions(url)).rejects.toThrow('Cannot query field'));
});

test('the file comes first, then the older object; others have their lists', { timeout: 120_000 }, async () => {
  const file = join(temporaryDirectory('kind-file'), 'kinds.yaml');
  const inFile = { ...apps, members: [{ resource: 'mysqls.example.com', columns: { version: 'spec.version' } }] };
  writeFileSync(file, JSON.stringify({ abstractKinds: [inFile] }));
  const { east, west, gateway } = await world({ abstractKinds: file, abstractKindObjects: ['eas*', 'west'] });
  const { url } = gateway;
  east.create(kindObject('a', apps));
  east.create(kindObject('b', { ...apps, name: 'stores', type: 'Store' }));
  east.create(kindObject('c', { ...apps, name: 'shops', type: 'Store' }));
  west.create(kindObject('d', { ...apps, name: 'stores', type: 'Store', columns: { version: 'Int64' } }));
  await eventually(async () => {
    expect(await versions(url)).toEqual(['east m1', 'west m1']);
    expect(await versions(url, 'stores')).toEqual(['east e1']);
    expect(await diagnostics(url)).toEqual([
      'east: AbstractKind a: the abstract kind apps is left out: apps (App) is in the file of --abstract-kinds, which comes first',
      'east: AbstractKind c: the abstract kind shops is left out: stores (Store) is in the AbstractKind b, which comes first',
      'west: AbstractKind d: the abstract kind stores is left out: its column version has the type String in an AbstractKind of another cluster, which comes first',
    ]);
  });
});

test('a list stays while its cluster is away, also over a restart', { timeout: 120_000 }, async () => {
  const { east, gateway, restart } = await world();
  east.create(kindObject('a', apps));
  await eventually(async () => expect(await versions(gateway.url)).toEqual(['east e1']));
  east.setAvailable(false);
  east.dropWatches();
  const { url } = await restart();
  expect(await versions(url)).toEqual(['east e1']);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect(await versions(url)).toEqual(['east e1']);
  east.setAvailable(true);
  east.delete(pathOf('a'));
  await eventually(async () => expect(versions(url)).rejects.toThrow('Cannot query field'), 60_000);
});

test('the names of other kinds stay with them, also in a new store', { timeout: 120_000 }, async () => {
  const { east, gateway } = await world();
  east.create(kindObject('a', { ...apps, name: 'exampleComRedises', type: 'ExampleComRedis' }));
  east.create(kindObject('b', { ...apps, name: 'customResourceDefinitions', type: 'CustomResourceDefinition' }));
  const check = async (url: string): Promise<void> => {
    const { data, errors } = await ask<Record<string, { totalCount: number; nodes: { __typename: string }[] }>>(
      url,
      '{ exampleComRedises { totalCount nodes { __typename spec { size } } } customResourceDefinitions { totalCount } }',
    );
    expect(errors).toBeUndefined();
    expect(data?.['exampleComRedises']).toMatchObject({ totalCount: 2, nodes: [{ spec: { size: 3 } }, {}] });
    expect(data?.['customResourceDefinitions']?.totalCount).toBe(6);
    expect((await diagnostics(url, '*.abstract')).join()).toContain('the list');
  };
  await eventually(() => check(gateway.url));
  const folder = kubeconfigFolder();
  const cluster = { name: 'east', kubeconfig: folder.file('east', east.kubeconfig()) };
  const anew = await runGateway(cluster, { abstractKindObjects: ['*'] });
  onTestFinished(() => anew.close());
  await eventually(async () => {
    const { data } = await ask<Record<string, { nodes: { __typename: string }[] }>>(
      anew.url,
      '{ exampleComRedises { nodes { __typename spec { size } } } customResourceDefinitions { nodes { __typename } } }',
    );
    expect(data?.['exampleComRedises']?.nodes).toEqual([{ __typename: 'ExampleComRedis', spec: { size: 3 } }]);
    expect((await diagnostics(anew.url, '*.abstract')).length).toBe(2);
  });
});

test('there are bounds, and clusters that are not named do not count', { timeout: 120_000 }, async () => {
  const { east, west, gateway } = await world({ abstractKindObjects: ['east'] });
  const { url } = gateway;
  west.create(kindObject('w', { ...apps, name: 'western', type: 'Western' }));
  const large = {
    ...kindObject('a', apps),
    metadata: { name: 'a', annotations: { x: 'x'.repeat(255_000), y: 'y'.repeat(7000) } },
  };
  east.create(large);
  for (let at = 0; at < 120; at += 1) {
    const number = String(at).padStart(3, '0');
    east.create(kindObject(`a${number}`, { ...apps, name: `list${number}`, type: `Type${number}` }));
  }
  await eventually(async () => {
    const found = await diagnostics(url);
    expect(found).toContain(
      'west: AbstractKind objects of the cluster west are not used: --abstract-kind-objects does not name it',
    );
    expect(found).toContain('east: AbstractKind objects after the 100 oldest of the cluster east are left out');
    expect(found.filter((each) => each.includes('there are 50 abstract kinds already')).length).toBeGreaterThan(10);
    expect(found).toContain('east: AbstractKind a: it is left out: it has more than 262144 characters');
    expect(found.filter((each) => each.startsWith('east')).length).toBe(50);
    expect(await versions(url, 'list000')).toEqual(['east e1']);
  }, 60_000);
  await expect(versions(url, 'list050')).rejects.toThrow('Cannot query field');
  await expect(versions(url, 'list110')).rejects.toThrow('Cannot query field');
  await expect(versions(url, 'western')).rejects.toThrow('Cannot query field');
});

test('without the option, objects are objects', { timeout: 60_000 }, async () => {
  const { east, gateway } = await world({ abstractKindObjects: [], kinds: ['*.example.com', 'abstractkinds'] });
  east.create(kindObject('a', apps));
  await eventually(async () => {
    const { data } = await ask<{ objects: { totalCount: number } }>(
      gateway.url,
      '{ objects(kinds: ["abstractkinds.portolan.dev"]) { totalCount } }',
    );
    expect(data?.objects.totalCount).toBe(1);
  });
  await expect(versions(gateway.url)).rejects.toThrow('Cannot query field');
});
