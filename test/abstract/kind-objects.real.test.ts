/**
 * The CustomResourceDefinition of AbstractKind on a real API server: it is accepted, it refuses what the schema can say, and a gateway makes
 * the list of the walk of docs/abstract-kinds.md.
 */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { must } from '../../src/base/must.ts';
import { abstractKindCrdText } from '../../src/catalog/abstract/abstract-kind-crd.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';

const page = readFileSync(new URL('../../docs/abstract-kinds.md', import.meta.url), 'utf8');

/** The YAML blocks of the section, in their order. */
function blocksOf(section: string): readonly string[] {
  const text = must(
    page.split(/^## /m).find((each) => each.startsWith(`${section}\n`)),
    `the section ${section}`,
  );
  return [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```/gm)].map(([, indent = '', , block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
}

const good = {
  apiVersion: 'portolan.dev/v1alpha1',
  kind: 'AbstractKind',
  metadata: { name: 'apps' },
  spec: {
    name: 'apps',
    columns: { version: 'String', state: { type: 'String', values: ['up'] }, mood: { type: 'Enum', values: ['GOOD'] } },
    members: [
      {
        resource: 'redises.cache.example.com',
        where: { 'spec.version': { exists: true }, 'spec.size': 'small' },
        labels: { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'c', operator: 'Exists' }] },
        columns: { version: { firstOf: ['spec.version', { value: '1' }] }, state: { value: 'up' } },
      },
    ],
  },
};
const [onlyMember] = good.spec.members;

describeOn([mainServer], 'AbstractKind objects', { timeout: 120_000, needs: ['kubectl'] }, (server) => {
  let plane: ControlPlane;
  beforeAll(async () => {
    plane = await startControlPlane({ server });
    await plane.kubectl(['apply', '--warnings-as-errors', '-f', '-'], abstractKindCrdText());
    await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
  }, 120_000);
  afterAll(async () => plane?.stop(), 60_000);

  const apply = (object: object | string): Promise<string> =>
    plane.kubectl(['apply', '-f', '-'], typeof object === 'string' ? object : JSON.stringify(object));

  test('a good object is stored as it is, and can change, but for its names', async () => {
    await eventually(() => apply(good));
    const stored = JSON.parse(await plane.kubectl(['get', 'abstractkind', 'apps', '-o', 'json'])) as typeof good;
    expect(stored.spec).toEqual(good.spec);
    expect(await plane.kubectl(['get', 'abstractkinds'])).toMatch(/NAME +LIST +TYPE +AGE\napps +apps/);
    await apply({ ...good, spec: { ...good.spec, description: 'changed' } });
    await expect(apply({ ...good, spec: { ...good.spec, name: 'others' } })).rejects.toThrow('the name cannot change');
    await expect(apply({ ...good, spec: { ...good.spec, type: 'Other' } })).rejects.toThrow('the type cannot change');
    await plane.kubectl(['delete', 'abstractkind', 'apps']);
  });

  test.each<readonly [string, object, string]>([
    ['no spec', { spec: undefined }, 'spec: Required'],
    ['no members', { spec: { ...good.spec, members: [] } }, 'spec.members'],
    ['no columns', { spec: { ...good.spec, columns: {} } }, 'spec.columns'],
    ['a name with a capital', { spec: { ...good.spec, name: 'Apps' } }, 'spec.name'],
    ['a name that is too long', { spec: { ...good.spec, name: 'a'.repeat(101) } }, 'spec.name'],
    ['a type in lower case', { spec: { ...good.spec, type: 'app' } }, 'spec.type'],
    ['an unknown type', { spec: { ...good.spec, columns: { version: 'Text' } } }, 'spec.columns.version'],
    [
      'an unknown type of an object',
      { spec: { ...good.spec, columns: { version: { type: 'Text' } } } },
      'version.type',
    ],
    ['an Enum without values', { spec: { ...good.spec, columns: { version: 'Enum' } } }, 'spec.columns.version'],
    ['a column without a type', { spec: { ...good.spec, columns: { version: { values: ['a'] } } } }, 'version.type'],
    ['an unknown field', { spec: { ...good.spec, column: {} } }, 'unknown field "spec.column"'],
    [
      'an unknown field of a member',
      { spec: { ...good.spec, members: [{ ...onlyMember, from: 1 }] } },
      'unknown field',
    ],
    [
      'too many columns',
      {
        spec: {
          ...good.spec,
          columns: Object.fromEntries(Array.from({ length: 33 }, (_, at) => [`c${at}`, 'String'])),
        },
      },
      'spec.columns',
    ],
    [
      'too many members',
      { spec: { ...good.spec, members: Array.from({ length: 101 }, (_, at) => ({ resource: `r${at}.a.b` })) } },
      'spec.members',
    ],
    ['a member twice', { spec: { ...good.spec, members: [onlyMember, onlyMember] } }, 'Duplicate value'],
    ['a member without a resource', { spec: { ...good.spec, members: [{ columns: {} }] } }, 'resource: Required'],
    ['a member that is no resource', { spec: { ...good.spec, members: [{ resource: 'Redis' }] } }, 'resource'],
    ['an abstract member', { spec: { ...good.spec, members: [{ resource: 'apps.abstract' }] } }, 'cannot be a member'],
    [
      'a selector with an unknown operator',
      {
        spec: {
          ...good.spec,
          members: [{ resource: 'a.b', labels: { matchExpressions: [{ key: 'a', operator: 'Is' }] } }],
        },
      },
      'operator',
    ],
  ])('the API server refuses %s', async (_, part, problem) => {
    await expect(apply({ ...good, metadata: { name: 'bad' }, ...part })).rejects.toThrow(problem);
  });

  test('the walk of the documentation gives its list', async () => {
    const blocks = blocksOf('Bring your own');
    const [definitions, object, query] = [
      must(
        blocks.find((block) => block.includes('kind: CustomResourceDefinition')),
        'the definitions',
      ),
      must(
        blocks.find((block) => block.startsWith('apiVersion: portolan.dev')),
        'the object',
      ),
      must(
        blocks.find((block) => block.startsWith('{')),
        'the query',
      ),
    ];
    const gateway = await runGateway(
      { kubeconfig: plane.kubeconfigPath, name: 'east' },
      { abstractKindObjects: ['east'] },
    );
    onTestFinished(() => gateway.close());
    await apply(definitions);
    await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    const cache = must(
      blocks.find((block) => block.includes('kind: Cache\n') && !block.includes('Definition')),
      'a Cache',
    );
    await apply(cache);
    await apply(object);
    const { metadata } = parse(object) as { metadata: { name: string } };
    await eventually(async () => {
      const { data, errors } = await ask(gateway.url, query);
      expect(errors).toBeUndefined();
      expect(JSON.stringify(data)).toContain('"7.4"');
    }, 60_000);
    const question = must(
      blocks.find((block) => block.includes('diagnostics')),
      'the query of diagnostics',
    );
    await apply(object.replace('spec.version', 'spec.verson'));
    await eventually(async () => {
      const { data, errors } = await ask(gateway.url, question);
      expect(errors).toBeUndefined();
      const [sentence] = blocksOf('Mistakes');
      expect(JSON.parse(JSON.stringify(data))).toEqual({
        resources: [
          { key: 'abstractkinds.portolan.dev', cluster: 'east', diagnostics: [] },
          { key: 'stores.abstract', cluster: 'east/caches.walk.example.com', diagnostics: [sentence?.trim()] },
        ],
      });
    }, 60_000);
    await plane.kubectl(['delete', 'abstractkind', metadata.name]);
    await eventually(async () => {
      const { errors = [] } = await ask(gateway.url, query);
      expect(errors[0]?.message).toMatch('Cannot query field');
    }, 60_000);
  });
});
