import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, type EngineFixture, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { recordedLogger } from '../../../test/kit/recorded-logger.ts';
import type { AbstractKind } from '../../catalog/abstract/abstract-kind.ts';
import { readAbstractKinds } from '../../catalog/abstract/read-abstract-kinds.ts';
import { KindObjects } from './kind-objects.ts';

const key = 'abstractkinds.portolan.dev';
const described = (cluster = 'east') =>
  describedCrd({
    group: 'portolan.dev',
    kind: 'AbstractKind',
    plural: 'abstractkinds',
    namespaced: false,
    cluster,
    properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  });
const apps = {
  name: 'apps',
  columns: { x: 'String' },
  members: [{ resource: 'pods', columns: { x: 'metadata.name' } }],
};
const stored = (name: string, spec: object = apps, created = '2026-01-31T12:00:00Z') =>
  made({ name, namespace: null, metadata: { creationTimestamp: created }, spec });

interface Started {
  readonly fixture: EngineFixture;
  readonly clock: ManualClock;
  readonly objects: KindObjects;
  /** The lists of each declaration. */
  readonly declared: string[];
  /** Lets time pass. Waits before and after until all begun work has ended. */
  readonly pass: (ms: number) => Promise<void>;
}

async function started(
  clusters: readonly string[],
  file: readonly AbstractKind[] = [],
  membersKnown = () => true,
): Promise<Started> {
  const fixture = engineFixture();
  await fixture.declare(described(), described('west'));
  await fixture.sync(key, [stored('a')]);
  await fixture.sync(key, [], 'west');
  const clock = new ManualClock();
  const declared: string[] = [];
  const objects = new KindObjects({
    writer: fixture.writer(),
    clock,
    log: recordedLogger().logger,
    clusters,
    membersKnown,
    declare: (kinds) => void declared.push(kinds.map(({ name }) => name).join()),
  });
  objects.declareFile(file);
  fixture.writer().onCommit(({ kindIds }) => objects.wake(kindIds, false));
  await objects.begin();
  const stop = new AbortController();
  const running = objects.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 150; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    await settled();
    await clock.advance(ms);
    await settled();
  };
  await pass(0);
  return { fixture, clock, objects, declared, pass };
}

test('what the store has is declared at the start; a stream of edits is taken every five seconds', async () => {
  const { fixture, declared, pass } = await started(['*']);
  expect(declared).toEqual(['apps']);
  await pass(10_000);
  let edits = 0;
  for (let ms = 0; ms < 20_000; ms += 100) {
    edits += 1;
    fixture.apply(key, 'MODIFIED', stored('a', { ...apps, name: `apps${edits}`, type: 'App' }));
    await pass(100);
  }
  expect(edits).toBe(200);
  expect(declared.length).toBeGreaterThanOrEqual(4);
  expect(declared.length).toBeLessThanOrEqual(6);
  await pass(6000);
  expect(declared.at(-1)).toBe('apps200');
});

test('one edit is taken after half a second; other kinds and an edit of nothing wake it in vain', async () => {
  const { fixture, declared, clock, pass } = await started(['east']);
  await pass(10_000);
  expect(clock.sleepers).toBe(0);
  fixture.apply(key, 'MODIFIED', stored('a', { ...apps, description: 'changed' }));
  await pass(499);
  expect(declared).toHaveLength(1);
  await pass(1);
  expect(declared).toHaveLength(2);
  await pass(10_000);
  fixture.apply(key, 'MODIFIED', stored('a', { ...apps, description: 'changed' }));
  await pass(10_000);
  expect(declared).toHaveLength(2);
});

test('objects that come while the kinds of clusters are still coming are taken after them', async () => {
  let known = false;
  const { fixture, objects, declared, pass } = await started(['*'], [], () => known);
  // The objects that an earlier process has stored are there at once.
  expect(declared).toEqual(['apps']);
  fixture.apply(key, 'ADDED', stored('b', { ...apps, name: 'others' }));
  await pass(10_000);
  expect(declared).toEqual(['apps']);
  known = true;
  objects.wake([], true);
  await pass(10_000);
  expect(declared.at(-1)).toBe('apps,others');
});

test('the oldest hundred objects of a cluster count, whatever their names', async () => {
  const { fixture, objects, declared, pass } = await started(['*']);
  const newer = Array.from({ length: 99 }, (_, at) =>
    stored(`a${String(at).padStart(3, '0')}`, {}, '2026-02-01T00:00:00Z'),
  );
  const oldest = stored('zz', { ...apps, name: 'oldest' }, '2025-01-01T00:00:00Z');
  const newest = stored('a', { ...apps, name: 'newest', type: 'Newest' }, '2026-03-01T00:00:00Z');
  await fixture.sync(key, [...newer, oldest, newest]);
  await pass(10_000);
  expect(declared.at(-1)).toBe('oldest');
  const { diagnostics } = objects.diagnosed(described());
  expect(diagnostics).toHaveLength(50);
  expect(diagnostics[0]?.message).toBe('AbstractKind objects after the 100 oldest of the cluster east are left out');
});

test('diagnostics of objects stand beside those of the schema, are short and few, and go', async () => {
  const { fixture, objects, pass } = await started(['*']);
  const own = { cluster: 'east', resource: key, message: 'of the schema' };
  fixture.writer().declare({ ...described(), diagnostics: [own] });
  const columns = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`c${at}`, 'x'.repeat(5000)]));
  const member = {
    resource: 'a.b',
    columns: Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${'k'.repeat(900)}${at}`, 'a'])),
  };
  fixture.apply(
    key,
    'ADDED',
    stored('bad', { ...apps, columns: { x: 'String', ...columns }, name: 'bad', members: [member] }),
  );
  await pass(10_000);
  const messages = () =>
    fixture
      .writer()
      .state(fixture.handle(key))
      .described.diagnostics.map(({ message }) => message);
  expect(messages()[0]).toBe('of the schema');
  expect(messages().filter((each) => each.startsWith('AbstractKind bad: '))).toHaveLength(5);
  expect(Math.max(...messages().map((each) => each.length))).toBeLessThanOrEqual(401);
  expect(objects.diagnosed({ ...described(), diagnostics: [own] }).diagnostics.map(({ message }) => message)).toEqual(
    messages(),
  );
  fixture.apply(key, 'DELETED', stored('bad'));
  fixture.apply(key, 'DELETED', stored('a'));
  await pass(10_000);
  expect(messages()).toEqual(['of the schema']);
});

test('without clusters, the kinds of the file are declared at once and nothing else', async () => {
  const { kinds } = readAbstractKinds({ abstractKinds: [{ ...apps, name: 'files' }] });
  const { fixture, declared, clock, objects, pass } = await started([], kinds);
  fixture.apply(key, 'ADDED', stored('b'));
  await pass(10_000);
  expect(declared).toEqual(['files']);
  expect(clock.sleepers).toBe(0);
  expect(objects.diagnosed(described()).diagnostics).toEqual([]);
});
