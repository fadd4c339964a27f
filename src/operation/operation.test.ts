import { expect, test } from 'vitest';
import { engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { eventually } from '../../test/kit/eventually.ts';
import { widget, widgets } from '../../test/kit/graphql-world.ts';
import { localUser } from '../access/caller.ts';
import { must } from '../base/must.ts';
import type { Reader } from '../store/types/lease.ts';
import { beginOperation } from './operation.ts';
import type { OperationSource } from './operation-source.ts';

interface Watched {
  readonly source: OperationSource;
  readonly leases: { opened: number; ended: number };
  fixture: ReturnType<typeof engineFixture>;
}

/** A source that counts leases. With `fail.statements`, every `all` fails. */
async function watched(fail: { statements: boolean } = { statements: false }): Promise<Watched> {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  const leases = { opened: 0, ended: 0 };
  const reader: Reader = {
    async open(options) {
      const lease = await fixture.reader.open(options);
      leases.opened += 1;
      let over = false;
      return {
        revision: lease.revision,
        epoch: lease.epoch,
        layoutVersion: lease.layoutVersion,
        all: (statement) => (fail.statements ? Promise.reject(new Error('the disk is gone')) : lease.all(statement)),
        fill: (asked, limit) => lease.fill(asked, limit),
        end() {
          if (!over) leases.ended += 1;
          over = true;
          lease.end();
        },
      };
    },
    async lease(work, options) {
      const lease = await this.open(options);
      try {
        return await work(lease);
      } finally {
        lease.end();
      }
    },
    close: () => fixture.reader.close(),
  };
  return { source: { ...fixture.engine.source, reader }, leases, fixture };
}

test('all reads of an operation share one lease, which ends once', async () => {
  const { source, leases, fixture } = await watched();
  const operation = beginOperation(source, localUser);
  const revisions = await Promise.all([
    operation.read(async (lease) => lease.revision),
    operation.read(async (lease) => lease.revision),
  ]);
  fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
  revisions.push(await operation.read(async (lease) => lease.revision));
  expect(new Set(revisions).size).toBe(1);
  expect(operation.extensions()).toEqual({ generation: operation.generation.id, revision: revisions[0] });
  operation.end();
  operation.end();
  await eventually(() => expect(leases).toEqual({ opened: 1, ended: 1 }));
  await expect(operation.read(async () => {})).rejects.toMatchObject({ code: 'TIMEOUT' });
});

test('an operation that reads nothing takes no lease', async () => {
  const { source, leases } = await watched();
  const operation = beginOperation(source, localUser);
  operation.end();
  expect(leases.opened).toBe(0);
  expect(operation.extensions()).toEqual({ generation: operation.generation.id });
});

test('an operation that ends while its lease is being opened gives it back', async () => {
  const { source, leases } = await watched();
  const operation = beginOperation(source, localUser);
  const reading = operation.read(async () => {});
  operation.end();
  await expect(reading).rejects.toMatchObject({ code: 'TIMEOUT' });
  expect(leases).toEqual({ opened: 1, ended: 1 });
});

test('a lease whose first statement fails is given back', async () => {
  const fail = { statements: true };
  const { source, leases } = await watched(fail);
  const operation = beginOperation(source, localUser);
  await expect(operation.read(async () => {})).rejects.toThrow('the disk is gone');
  expect(leases).toEqual({ opened: 1, ended: 1 });
  operation.end();
});

test('an aborted request gives its lease back without being told to end', async () => {
  const { fixture } = await watched();
  const stop = new AbortController();
  const operation = beginOperation(fixture.engine.source, localUser, stop.signal);
  await operation.read(async () => {});
  expect(fixture.reader.stats().active).toBe(1);
  stop.abort(new Error('the client has gone'));
  await eventually(() => expect(fixture.reader.stats().active).toBe(0));
  await expect(operation.read(async (lease) => lease.all({ sql: 'SELECT 1', params: [] }))).rejects.toThrow('gone');
});

test('a detached operation reads the newest state, each time in a lease of its own', async () => {
  const { source, leases, fixture } = await watched();
  const operation = beginOperation(source, localUser).detached();
  const first = await operation.read(async (lease) => lease.revision);
  fixture.apply(widgets, 'ADDED', made({ name: 'b' }));
  expect(await operation.read(async (lease) => lease.revision)).toBe(first + 1);
  expect(leases).toEqual({ opened: 2, ended: 2 });
});

test('loaders are made once in an operation, and missing collections are told once', async () => {
  const { source } = await watched();
  const operation = beginOperation(source, localUser);
  const made = operation.loader('a', () => ({}));
  expect(operation.loader('a', () => ({}))).toBe(made);
  expect(operation.loader('b', () => ({}))).not.toBe(made);
  expect(operation.detached().loader('a', () => ({}))).not.toBe(made);
  const missing = { cluster: 'west', key: widgets };
  operation.noteMissing([missing, missing]);
  operation.noteMissing([{ ...missing }]);
  expect(must(operation.extensions()['notReady'], 'what is missing')).toEqual([missing]);
});
