/** Without current roles, nobody sees anything. */
import { expect, test } from 'vitest';
import { StoredRights } from '../../src/auth/rights/stored-rights.ts';
import { silentLogger } from '../../src/base/log.ts';
import { idleStatus } from '../../src/store/types/progress.ts';
import { engineFixture } from '../kit/engine-fixture.ts';
import { ManualClock } from '../kit/manual-clock.ts';
import {
  binding,
  clusterRoleBindingsKey,
  clusterRolesKey,
  rbacKinds,
  role,
  roleBindingsKey,
  rolesKey,
} from '../kit/rbac-kinds.ts';
import { callerOf } from '../kit/user.ts';

const alice = callerOf('alice');
const unavailable = expect.objectContaining({ code: 'UPSTREAM_UNAVAILABLE' });

async function world() {
  const fixture = engineFixture();
  await fixture.declare(...rbacKinds());
  const clock = new ManualClock();
  const { reader } = fixture;
  const rights = new StoredRights({ reader, clock, log: silentLogger, clusters: ['east'], served: 1 });
  const scope = () => fixture.reader.lease(async (lease) => (await rights.at(lease, alice)).of('pods').rows);
  return { fixture, clock, rights, scope };
}

async function syncAll({ fixture }: Awaited<ReturnType<typeof world>>): Promise<void> {
  const verbs = ['list'];
  await fixture.sync(rolesKey, []);
  await fixture.sync(clusterRolesKey, [role('all', null, { verbs, apiGroups: ['*'], resources: ['*'] })]);
  await fixture.sync(roleBindingsKey, []);
  await fixture.sync(clusterRoleBindingsKey, [binding('alice', null, 'all', 'alice')]);
}

test('until all four kinds are synced', async () => {
  const setup = await world();
  const { fixture, rights, scope } = setup;
  await expect(scope()).rejects.toEqual(unavailable);
  await fixture.sync(clusterRolesKey, []);
  await fixture.sync(clusterRoleBindingsKey, []);
  await expect(scope()).rejects.toEqual(unavailable);
  expect(rights.now(alice)).toBeNull();
  await syncAll(setup);
  expect(await scope()).toBe('all');
});

test('when the API server has not confirmed the roles for a minute', async () => {
  const setup = await world();
  const { fixture, clock, rights, scope } = setup;
  await syncAll(setup);
  expect(await scope()).toBe('all');
  const setStale = (staleSince: number | null): void =>
    fixture.writer().setStatus(fixture.handle(roleBindingsKey), { ...idleStatus, phase: 'BACKOFF', staleSince });
  setStale(clock.now());
  fixture.writer().maintain();
  expect(await scope()).toBe('all');
  clock.advance(60_001);
  await expect(scope()).rejects.toEqual(unavailable);
  await expect(scope()).rejects.toThrow(/has not confirmed the roles and bindings for 60 s/);
  expect(rights.now(alice)).toBeNull();
  setStale(null);
  expect(await scope()).toBe('all');
});

test('when ingest has not been able to bring the roles up to date for a minute, whatever the store says', async () => {
  const setup = await world();
  const { fixture, clock } = setup;
  await syncAll(setup);
  let since: number | null = null;
  const options = { reader: fixture.reader, clock, log: silentLogger, clusters: ['east'], served: 1 };
  const rights = new StoredRights({ ...options, staleSince: () => since });
  const scope = () => fixture.reader.lease(async (lease) => (await rights.at(lease, alice)).of('pods').rows);
  expect(await scope()).toBe('all');
  since = clock.now();
  clock.advance(60_000);
  expect(await scope()).toBe('all');
  clock.advance(1);
  await expect(scope()).rejects.toEqual(unavailable);
  since = null;
  expect(await scope()).toBe('all');
});

test('in one of two clusters, and scopes stay the same meanwhile', async () => {
  const { fixture, clock } = await world();
  const { reader } = fixture;
  const rights = new StoredRights({ reader, clock, log: silentLogger, clusters: ['east', 'west'], served: 2 });
  await syncAll({ fixture } as Awaited<ReturnType<typeof world>>);
  const scopes = await fixture.reader.lease((lease) => rights.at(lease, alice));
  expect([...(scopes.unknown?.keys() ?? [])]).toEqual(['west']);
  expect(scopes.of('pods')).toEqual({ rows: 'some', clusters: new Map([['east', 'all']]) });
  clock.advance(1000);
  expect(await fixture.reader.lease((lease) => rights.at(lease, alice))).toBe(scopes);
});

test('after the store has been built anew', async () => {
  const setup = await world();
  await syncAll(setup);
  expect(await setup.scope()).toBe('all');
  await setup.fixture.sync(clusterRoleBindingsKey, []);
  expect(await setup.scope()).toBe('none');
});
