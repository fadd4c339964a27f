/** The members of a large set, selected many times: they are charged by their number, and their record is read once. */
import { expect, test, vi } from 'vitest';
import { projectMember } from '../../src/sets/projection/project.ts';
import { readSetRecord } from '../../src/sets/record/set-record.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { storedRecord } from '../kit/shadow-records.ts';
import { servedResource } from '../kit/store-file.ts';

vi.mock('../../src/sets/record/set-record.ts', async (original) => {
  const record = await original<typeof import('../../src/sets/record/set-record.ts')>();
  return { ...record, readSetRecord: vi.fn(record.readSetRecord) };
});
vi.mock('../../src/sets/projection/project.ts', async (original) => {
  const project = await original<typeof import('../../src/sets/projection/project.ts')>();
  return { ...project, projectMember: vi.fn(project.projectMember) };
});

const count = 400;

async function world() {
  const fixture = engineFixture();
  await fixture.declare(
    servedResource({ plural: 'shadowrecords', kind: 'ShadowRecord', group: 'portolan.dev', version: 'v1alpha1' }),
    servedResource({ plural: 'configmaps', kind: 'ConfigMap' }),
  );
  const names = Array.from({ length: count }, (_, at) => `m-${at}`);
  await fixture.sync(
    'configmaps',
    names.map((name, at) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace: 'shop', uid: `uid-shop-${name}`, resourceVersion: String(100 + at) },
    })),
  );
  const members = names.map((name) => `ConfigMap/${name}`);
  await fixture.sync('shadowrecords.portolan.dev', [storedRecord({ name: 'big', rv: 900, members })]);
  return async (aliases: number, field: string) => {
    const fields = Array.from({ length: aliases }, (_, at) => `a${at}: ${field}`).join(' ');
    const { data, errors, operation } = await fixture.query(
      `{ portolanDevShadowRecords(first: 1) { nodes { ${fields} } } }`,
    );
    const codes = [
      ...new Set(errors.map(({ originalError }) => (originalError as { code?: string } | undefined)?.code)),
    ];
    return { record: data?.portolanDevShadowRecords?.nodes[0], codes, spent: operation.cost.spent };
  };
}

test.each([
  ['members { name state }', 190],
  ['members { object { id } }', 190],
  ['members { manifest }', 100],
  ['setHealth { status }', 190],
])('%s', async (field, aliases) => {
  const ask = await world();
  const once = await ask(1, field);
  expect(once.codes).toEqual([]);
  expect(once.spent).toBeGreaterThan(count);
  const many = await ask(aliases, field);
  expect(many.codes).toEqual(['QUERY_TOO_COSTLY']);
});

test('the record is read once, and each manifest is made once', async () => {
  const ask = await world();
  vi.mocked(readSetRecord).mockClear();
  vi.mocked(projectMember).mockClear();
  const { record, codes } = await ask(10, 'members { manifest }');
  expect(codes).toEqual([]);
  expect(record.a9).toHaveLength(count);
  expect(readSetRecord).toHaveBeenCalledTimes(1);
  expect(projectMember).toHaveBeenCalledTimes(count);
});
