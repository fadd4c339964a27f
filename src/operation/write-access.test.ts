import { expect, test } from 'vitest';
import { engineFixture, made } from '../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../test/kit/graphql-world.ts';
import { type Credentials, localUser } from '../access/caller.ts';
import { noSpan } from '../base/tracing.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';
import { beginOperation } from './operation.ts';
import type { OperationSource } from './operation-source.ts';
import { WriteGate } from './write-gate.ts';

const none: Credentials = { header: () => undefined, headers: () => [], headerNames: () => [] };

/** A source whose clients are noted, and not used. */
async function writable(): Promise<{ source: OperationSource; asked: unknown[] }> {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  const asked: unknown[] = [];
  const writes = {
    client: async (cluster: string, credentials: Credentials) => {
      asked.push([cluster, credentials]);
      return {} as CallerClient;
    },
    planKey: new Uint8Array(32),
    charge() {},
    redact: [],
    setKinds: [],
    gate: new WriteGate(),
    audit: null,
    meter: { sends: () => () => {} },
    longManifests: { read: async () => [] },
    version: '1.0.0',
  };
  return { source: { ...fixture.engine.source, writes }, asked };
}

test('the client of a write gets the cluster and the credentials of the request', async () => {
  const { source, asked } = await writable();
  const operation = beginOperation(source, localUser, undefined, { credentials: none });
  await operation.writeClient('east');
  expect(asked).toEqual([['east', none]]);
  expect(operation).toMatchObject({ isPersonal: true, readsMore: true });
});

test('nothing is written without credentials, in subscriptions, in live queries and by a read-only gateway', async () => {
  const { source, asked } = await writable();
  const operation = beginOperation(source, localUser, undefined, { credentials: none });
  const readOnly = beginOperation({ ...source, writes: null }, localUser, undefined, { credentials: none });
  const refused = [
    beginOperation(source, localUser),
    operation.detached(),
    operation.withoutRequest(),
    operation.live(noSpan),
    readOnly,
  ];
  for (const each of refused) await expect(each.writeClient('east')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(readOnly.writeClient('east')).rejects.toThrow(/read-only/);
  expect(asked).toEqual([]);
});
