/** The aggregated API server reads the cell of its own cluster. */
import { expect, test } from 'vitest';
import { localUser } from '../../src/access/caller.ts';
import type { SetPlace } from '../../src/aggregate/sets/member-states.ts';
import { SetCache } from '../../src/aggregate/sets/set-cache.ts';
import { SetChanges } from '../../src/aggregate/sets/set-changes.ts';
import { SetReads } from '../../src/aggregate/sets/set-reads.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { beginOperation } from '../../src/operation/operation.ts';
import { sourceAt, withWrites } from '../../src/operation/operation-source.ts';
import type { WriteAccess } from '../../src/operation/write-access.ts';
import { recordsKey } from '../../src/sets/record/set-record.ts';
import { doorApi } from '../kit/aggregate-door.ts';
import { cellsFixture } from '../kit/cells-fixture.ts';
import { describedCrd, made } from '../kit/engine-fixture.ts';
import { handMadeRecord } from '../kit/shadow-records.ts';

async function world() {
  const fixture = cellsFixture(3, (cluster) => ['east', 'west'].indexOf(cluster) + 1);
  const [plural = ''] = recordsKey.split('.');
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const records = (cluster: string) =>
    describedCrd({ cluster, group: 'portolan.dev', kind: 'ShadowRecord', plural, properties: { spec: open } });
  await fixture.declare(records('east'), records('west'));
  return fixture;
}

test('sets are those of the home cluster', async () => {
  const { engine, sync } = await world();
  const named = (name: string) => {
    const record = handMadeRecord({ namespace: 'default', name }, []) as Parameters<typeof made>[0];
    return { ...record, ...made({ ...record, name }) };
  };
  await sync(recordsKey, [named('theirs')], 'east');
  await sync(recordsKey, [named('ours')], 'west');
  const { source } = engine;
  const cache = new SetCache();
  const place = (): SetPlace => ({ kinds: source.generation(), cluster: 'west', cache });
  const { reader } = sourceAt(source, 'west');
  const changes = new SetChanges({ reader, api: doorApi, place, clock: systemClock, log: silentLogger });
  const clientOf = () => Promise.reject(new Error('no member is read live'));
  const reads = new SetReads({ api: doorApi, place, changes, clientOf, membersRead: () => {} });
  const operation = beginOperation(source, localUser);
  const found = await reads.some(operation, [
    { namespace: 'default', name: 'ours' },
    { namespace: 'default', name: 'theirs' },
  ]);
  operation.end();
  changes.close();
  expect(found).toMatchObject([{ metadata: { name: 'ours' } }, null]);
});

test('another access of writes is that of all cells, and everything else stays', async () => {
  const { engine } = await world();
  const writes = { redact: [] } as unknown as WriteAccess;
  const source = withWrites(engine.source, writes);
  const operation = beginOperation(source, localUser);
  expect([operation, ...operation.cells].map((each) => each.source.writes === writes)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(operation.at('west').source.reader).toBe(sourceAt(engine.source, 'west').reader);
  expect(source.generations).toBe(engine.source.generations);
  operation.end();
});
