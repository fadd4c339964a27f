import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget, widgets } from '../../../test/kit/graphql-world.ts';
import type { FieldTree } from '../../catalog/tree/field-tree.ts';
import { idleStatus } from '../../store/types/progress.ts';
import { leavesOf } from './resources.ts';

async function world() {
  const fixture = engineFixture();
  await fixture.declare(widget(), gadget(), widget('west'));
  await fixture.sync(widgets, [made({ name: 'a' })]);
  fixture.writer().setStatus(fixture.handle(widgets), {
    ...idleStatus,
    phase: 'WATCHING',
    lastEventAt: Date.UTC(2026, 0, 31),
    error: 'late',
    restarts: { expired: 2 },
  });
  return fixture;
}

test('the catalog as data, with how ingest stands', async () => {
  const { query } = await world();
  const { data, errors } =
    await query(`{ resources(kinds: ["Widget"]) { key cluster group version plural kind namespaced verbs
    type list one subscription synced phase objects resourceVersion lastEventAt error restarts { reason count } diagnostics } }`);
  expect(errors).toEqual([]);
  expect(data.resources).toMatchObject([
    {
      key: widgets,
      cluster: 'east',
      group: 'example.com',
      version: 'v1',
      plural: 'widgets',
      kind: 'Widget',
      namespaced: true,
      type: 'ExampleComWidget',
      list: 'exampleComWidgets',
      one: 'exampleComWidget',
      subscription: 'exampleComWidgetChanges',
      synced: true,
      phase: 'WATCHING',
      objects: 1,
      lastEventAt: '2026-01-31T00:00:00.000Z',
      error: 'late',
      restarts: [{ reason: 'expired', count: 2 }],
      diagnostics: [],
    },
    {
      cluster: 'west',
      synced: false,
      phase: 'IDLE',
      objects: 0,
      resourceVersion: null,
      lastEventAt: null,
      restarts: [],
    },
  ]);
});

test('resources of some kinds and clusters', async () => {
  const { query } = await world();
  const places = async (args: string) => {
    const { data, errors } = await query(`{ resources${args} { cluster plural } }`);
    if (errors[0] !== undefined) throw errors[0].originalError ?? errors[0];
    return data.resources.map(({ cluster, plural }: { cluster: string; plural: string }) => `${cluster} ${plural}`);
  };
  expect(await places('')).toEqual(['east gadgets', 'east widgets', 'west widgets']);
  expect(await places('(kinds: ["Widget"], clusters: ["west"])')).toEqual(['west widgets']);
  expect(await places('(clusters: [])')).toEqual([]);
  await expect(places('(kinds: ["Wodget"])')).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
});

test('fields are every leaf with its path, promoted those with a column', async () => {
  const { query } = await world();
  const { data } = await query(
    '{ resources(kinds: ["Widget"], clusters: ["east"]) { fields { path type } promoted { path type } } }',
  );
  const { fields, promoted } = data.resources[0];
  const types = new Map(fields.map(({ path, type }: { path: string; type: string }) => [path, type]));
  expect(types.get('spec.total')).toBe('Int64');
  expect(types.get('spec.ports[].number')).toBe('Int');
  expect(types.get('spec.tags[]')).toBe('String');
  expect(types.get('spec.settings')).toBe('StringMap');
  expect(types.get('metadata.labels')).toBe('StringMap');
  expect(types.get('status.conditions[].lastTransitionTime')).toBe('DateTime');
  expect(promoted.map(({ path }: { path: string }) => path)).toContain('status.phase');
});

test('a shape within itself is followed once', () => {
  const tree = {
    root: 'a',
    shapes: {
      a: {
        key: 'a',
        path: [],
        fields: [
          { name: 'again', type: { kind: 'object', shape: 'a' } },
          { name: 'leaf', type: { kind: 'leaf', type: 'String' } },
          { name: 'list', type: { kind: 'list', of: { kind: 'object', shape: 'a' } } },
          { name: 'map', type: { kind: 'map', of: { kind: 'object', shape: 'a' } } },
        ],
      },
    },
  } as unknown as FieldTree;
  expect(leavesOf(tree)).toEqual([
    { path: 'leaf', type: 'String' },
    { path: 'map', type: 'JSON' },
  ]);
});
