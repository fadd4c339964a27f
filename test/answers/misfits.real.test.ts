/** A CRD changes the types of its fields while old objects stay, on a real API server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { customKind } from '../kit/custom-kind.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const name = 'olds.misfits.portolan.example';

/** The kind Old with these fields in its spec. */
function oldCrd(properties: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(
    customKind({
      group: 'misfits.portolan.example',
      kind: 'Old',
      plural: 'olds',
      schema: { type: 'object', properties: { spec: { type: 'object', properties } } },
    }),
  );
}

const of = (type: string, more: object = {}): object => ({ type, ...more });
const before = {
  text: of('integer'),
  flag: of('string'),
  small: of('integer'),
  ratio: of('string'),
  inner: of('string'),
  items: of('array', { items: { 'x-kubernetes-preserve-unknown-fields': true } }),
};
const after = {
  text: of('string'),
  flag: of('boolean'),
  small: of('integer', { format: 'int32' }),
  ratio: of('number'),
  inner: of('object', { properties: { text: of('string') } }),
  items: of('array', { items: of('string') }),
};

describeOn([mainServer], 'values that no longer fit their CRD', { timeout: 240_000 }, () => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    plane = await startControlPlane();
    await plane.kubectl(['create', '-f', '-'], oldCrd(before));
    await plane.kubectl(['wait', '--for=condition=Established', `crd/${name}`]);
    const spec = { text: 5, flag: 'x', small: 3_000_000_000, ratio: '1.5', inner: 'text', items: ['a', 5, { b: 1 }] };
    const old = { apiVersion: 'misfits.portolan.example/v1', kind: 'Old', metadata: { name: 'old' }, spec };
    await eventually(() => plane.kubectl(['create', '-n', 'default', '-f', '-'], JSON.stringify(old)));
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { leaseMs: '10000' });
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  test('V2: each old value is shown where its new type can hold it, else an error at its field', async () => {
    await plane.kubectl(['replace', '-f', '-'], oldCrd(after));
    const list = 'misfitsPortolanExampleOlds';
    const document = `{ ${list} { nodes { spec { text flag small ratio inner { text } items } raw } } }`;
    await eventually(async () => {
      const { data, errors = [] } = await ask(gateway.url, document);
      const [node] = (data as Record<string, { nodes: { spec: object; raw: { spec: object } }[] }>)[list]?.nodes ?? [];
      expect(node?.spec).toEqual({
        text: '5',
        flag: null,
        small: null,
        ratio: null,
        inner: null,
        items: ['a', '5', null],
      });
      expect(node?.raw.spec).toEqual(JSON.parse(await plane.kubectl(['get', name, 'old', '-o', 'json'])).spec);
      expect(errors.map(({ path, extensions }) => [path?.slice(4).join('.'), extensions?.['code']]).sort()).toEqual(
        ['flag', 'inner', 'items.2', 'ratio', 'small'].map((field) => [field, 'VALUE_MISFIT']),
      );
    });
    const filtered = async (condition: string): Promise<number> => {
      const { data } = await ask(gateway.url, `{ ${list}(filter: { spec: { ${condition} } }) { totalCount } }`);
      return (data as Record<string, { totalCount: number }>)[list]?.totalCount ?? -1;
    };
    expect(await filtered('text: { eq: "5" }')).toBe(1);
    expect(await filtered('flag: { exists: true }')).toBe(1);
    expect(await filtered('flag: { eq: true }')).toBe(0);
    expect(await filtered('small: { gt: 0 }')).toBe(0);
    expect(await filtered('items: { some: { eq: "5" } }')).toBe(1);
  });
});
