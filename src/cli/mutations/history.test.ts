/** `portolan history` and `revert` against a gateway with more changes than they read. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type LoopbackServer, sendJson, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { history } from './history.ts';
import { write } from './write-command.ts';

const change = {
  ...{ at: '2026-01-31T08:15:00Z', type: 'MODIFIED', id: 'a', cluster: 'east', kind: 'ConfigMap', namespace: 'shop' },
  ...{ name: 'other', resourceVersion: '2', changedPaths: ['data'], managers: [], before: null },
};
let gateway: LoopbackServer;

beforeAll(async () => {
  const changes = { nodes: Array(100).fill(change), pageInfo: { hasNextPage: true, endCursor: 'next' }, reaches: [] };
  gateway = await startLoopbackServer(async (request, response) => {
    const body = (await Array.fromAsync(request)).join('');
    const clusters = [{ __typename: 'Cluster' }];
    sendJson(response, 200, { data: body.includes('changes(') ? { changes } : { clusters, objects: { nodes: [] } } });
  });
});
afterAll(() => gateway.close());

async function historyOf(name: string, limit: number): Promise<{ out: string; err: string }> {
  const texts = { out: '', err: '' };
  const to = (which: 'out' | 'err') => ({ write: (text: string) => (texts[which] += text) });
  const flags = { words: ['ConfigMap', name], since: '-1h', limit, output: 'text' } as const;
  expect(await history({ url: gateway.url, token: undefined }, flags, to('out'), to('err'))).toBe(0);
  return texts;
}

test('a history says that it did not read the oldest changes', async () => {
  expect(await historyOf('web', 50)).toEqual({
    out: 'No change of ConfigMap web is recorded since -1h.\n',
    err: 'portolan: Only the newest 10,000 changes were read. Narrow them with --namespace or --cluster.\n',
  });
});

test('a history says that it has more changes than it shows', async () => {
  const err = 'portolan: There are more than the newest 50 changes: --limit shows more of them.\n';
  expect(await historyOf('other', 50)).toMatchObject({ err });
});

test('so does a revert of an object that is not found', async () => {
  const flags = { words: ['ConfigMap', 'web'], output: 'text', color: 'never', yes: true, to: '-10m' } as const;
  await expect(write({ url: gateway.url, token: undefined }, 'revert', flags)).rejects.toThrow(
    'There is no ConfigMap web, and no change of one is recorded, or you may not see it: check the name, --namespace and --cluster. `portolan history ConfigMap --since -7d` lists the recorded changes. Only the newest 10,000 changes were read. Give its id, or narrow them with --namespace and --cluster.',
  );
});
