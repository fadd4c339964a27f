/** The paths that the editor suggests are those that the gateway takes. */
import { expect, test } from 'vitest';
import { commonFields, suggestPaths } from '../../web/playground/path-suggestions.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { widget, widgets } from '../kit/graphql-world.ts';

const fields = [
  { path: 'metadata.labels', type: 'StringMap' },
  { path: 'metadata.name', type: 'String' },
  { path: 'spec.containers[].image', type: 'String' },
  { path: 'spec.containers[].ports[].port', type: 'Int' },
  { path: 'spec["odd.name"]', type: 'String' },
  { path: 'status.conditions[].status', type: 'String' },
  { path: 'status.conditions[].type', type: 'String' },
];

const labels = (written: string): readonly string[] => suggestPaths(fields, written).map(({ label }) => label);

test('every path is suggested, with keys of maps and conditions by type', () => {
  expect(labels('')).toEqual([
    'health.status',
    'health.reason',
    'cluster',
    'id',
    'metadata.labels',
    "metadata.labels['…']",
    'metadata.name',
    'spec.containers[].image',
    'spec.containers[].ports[].port',
    'spec["odd.name"]',
    'status.conditions[].status',
    'status.conditions[].type',
    'status.conditions[type=Ready].status',
  ]);
});

test('a list keeps the step that is written', () => {
  expect(labels('spec.containers[0].')).toContain('spec.containers[0].image');
  expect(labels('spec.containers[name=app].po')).toContain('spec.containers[name=app].ports[].port');
  expect(labels('spec.containers[].ports[1].')).toContain('spec.containers[].ports[1].port');
  expect(labels('spec.containers[0].ports[1].')).toContain('spec.containers[0].ports[1].port');
  expect(labels('status.conditions[type=Synced].')).toContain('status.conditions[type=Synced].status');
});

test('a fold takes paths through lists', () => {
  expect(labels('sum(')).toEqual([
    'sum(spec.containers[].image)',
    'sum(spec.containers[].ports[].port)',
    'sum(status.conditions[].status)',
    'sum(status.conditions[].type)',
  ]);
});

test('the inserted text is escaped for the string, and the cursor stands between the quotes of a key', () => {
  const inserted = new Map(suggestPaths(fields, '').map(({ label, insert }) => [label, insert]));
  expect(inserted.get("metadata.labels['…']")).toBe("metadata.labels['$0']");
  // A snippet of the editor: its backslashes are escaped again.
  expect(inserted.get('spec["odd.name"]')).toBe(String.raw`spec[\\"odd.name\\"]`);
});

test('several kinds have the fields that all of them have', () => {
  expect(commonFields([fields, [{ path: 'metadata.name', type: 'String' }], fields])).toEqual([
    { path: 'metadata.name', type: 'String' },
  ]);
  expect(commonFields([])).toEqual([]);
});

test('the gateway takes every path that is suggested of a kind', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, []);
  const { data } = await fixture.query('{ resources(kinds: ["ExampleComWidget"]) { fields { path type } } }');
  const suggested = suggestPaths(data.resources[0].fields, '').map(({ label }) => label.replace('…', 'key'));
  expect(suggested.length).toBeGreaterThan(30);
  for (const path of suggested) {
    const { errors } = await fixture.query(
      `query ($path: Path!) { exampleComWidgets(filter: { path: [{ path: $path, exists: true }] }) { totalCount } }`,
      { path },
    );
    expect(errors, path).toEqual([]);
  }
});
