import { expect, test } from 'vitest';
import { readRelations } from './read-relations.ts';
import { textOfKind } from './relation.ts';

const read = (...relations: readonly object[]) => readRelations({ relations }, 'CONFIGURED');

test('a reference by name, one by object, and one that states its kind', () => {
  const { relations, problems } = read(
    { from: 'Pod', name: 'node', to: 'Node', reverse: 'pods', at: ['spec.nodeName'] },
    {
      from: 'PersistentVolume',
      name: 'claim',
      to: 'PersistentVolumeClaim',
      at: [{ at: 'spec.claimRef', namespace: 'namespace' }],
    },
    {
      from: 'HorizontalPodAutoscaler.autoscaling',
      name: 'scaleTarget',
      to: 'any',
      reverse: 'scalers',
      reverseOn: ['Deployment.apps'],
      at: [{ at: 'spec.scaleTargetRef', kind: 'kind', apiVersion: 'apiVersion', default: 'Deployment.apps' }],
    },
  );
  expect(problems).toEqual([]);
  expect(relations).toMatchObject([
    {
      name: 'node',
      source: { group: '', kind: 'Pod' },
      target: { group: '', kind: 'Node' },
      reverse: 'pods',
      reverseOn: [{ group: '', kind: 'Node' }],
      many: false,
      means: { by: 'reference', places: [{ at: { text: 'spec.nodeName' }, name: null, namespace: null }] },
      origin: 'CONFIGURED',
    },
    { means: { places: [{ name: { text: 'name' }, namespace: { text: 'namespace' } }] }, reverse: null },
    {
      target: null,
      reverseOn: [{ group: 'apps', kind: 'Deployment' }],
      means: {
        places: [
          {
            target: {
              kindAt: { text: 'kind' },
              groupAt: { path: { text: 'apiVersion' }, form: 'apiVersion' },
              fallback: { group: 'apps', kind: 'Deployment' },
            },
          },
        ],
      },
    },
  ]);
});

test('a relation leads to many through lists, several places and selectors, unless it says otherwise', () => {
  const { relations } = read(
    { from: 'A.example.com', name: 'a', to: 'B', at: ['spec.refs[].name'] },
    { from: 'A.example.com', name: 'b', to: 'B', at: ['spec.x', 'spec.y'] },
    { from: 'A.example.com', name: 'c', to: 'B', at: ['spec.x', 'spec.y'], one: true },
    { from: 'A.example.com', name: 'd', to: 'B', selector: 'spec.selector', form: 'map', empty: 'none' },
    { from: 'A.example.com', name: 'e', to: 'B', owner: true },
  );
  expect(relations.map(({ name, many }) => [name, many])).toEqual([
    ['a', true],
    ['b', true],
    ['c', false],
    ['d', true],
    ['e', false],
  ]);
});

test('a relation of Pods stands on each kind with a Pod template too, without the other direction', () => {
  const { relations } = readRelations(
    {
      podTemplates: [
        { kind: 'Deployment.apps', at: 'spec.template' },
        { kind: 'CronJob.batch', at: 'spec.jobTemplate.spec.template' },
      ],
      relations: [
        {
          from: 'Pod',
          name: 'serviceAccount',
          to: 'ServiceAccount',
          reverse: 'pods',
          template: true,
          at: ['spec.serviceAccountName'],
        },
      ],
    },
    'SHIPPED',
  );
  expect(
    relations.map(({ source, reverse, means }) => [
      textOfKind(source),
      reverse,
      means.by === 'reference' ? means.places.map(({ at }) => at.text) : null,
    ]),
  ).toEqual([
    ['Pod', 'pods', ['spec.serviceAccountName']],
    ['Deployment.apps', null, ['spec.template.spec.serviceAccountName']],
    ['CronJob.batch', null, ['spec.jobTemplate.spec.template.spec.serviceAccountName']],
  ]);
});

test.each([
  [{ from: 'pod', name: 'node', to: 'Node', at: ['x'] }, 'from: must be Kind or Kind.group'],
  [{ from: 'Pod', name: 'Node', to: 'Node', at: ['x'] }, 'name: must begin with a lower case letter'],
  [{ from: 'Pod', name: 'node', to: 'Node' }, 'needs one of at, selector, owner and owns'],
  [{ from: 'Pod', name: 'node', to: 'Node', at: ['x'], owner: true }, 'needs one of at, selector, owner and owns'],
  [{ from: 'Pod', name: 'node', to: 'Node', at: ['a[b'] }, 'at.0'],
  [{ from: 'Pod', name: 'node', to: 'any', at: ['x'] }, 'does not state a kind'],
  [{ from: 'Pod', name: 'node', to: 'any', reverse: 'r', at: [{ at: 'x', kind: 'kind' }] }, 'needs reverseOn'],
  [{ from: 'Pod', name: 'node', to: 'Node', at: [{ at: 'x', group: 'group' }] }, 'without kind'],
  [{ from: 'A.b', name: 'c', to: 'Pod', at: [{ at: 'x', inNamespace: 'Shop' }] }, 'must be the name of a namespace'],
  [
    { from: 'A.b', name: 'c', to: 'Pod', at: [{ at: 'x', namespace: 'n', inNamespace: 'shop' }] },
    'namespace and inNamespace',
  ],
  [{ from: 'Service', name: 'pods', to: 'Pod', selector: 'spec.selector' }, 'needs form and empty beside selector'],
  [{ from: 'Pod', name: 'node', to: 'Node', at: ['x'], color: 'red' }, 'color'],
])('a wrong declaration costs itself only: %j', (wrong, part) => {
  const { relations, problems } = read(wrong, { from: 'Pod', name: 'other', to: 'Node', at: ['spec.nodeName'] });
  expect(relations.map(({ name }) => name)).toEqual(['other']);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.message).toContain(part);
});

test.each([[null], ['text'], [{ relations: {} }], [[]]])('a document that is none is a problem: %j', (value) => {
  expect(readRelations(value, 'CONFIGURED')).toMatchObject({
    relations: [],
    problems: [{ declaration: 'the document' }],
  });
});
