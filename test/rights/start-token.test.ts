/** Without --auth, reads need nothing, and writes need the token of the start. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { type Answer, ask } from '../kit/graphql-client.ts';
import { type KubeconfigFolder, kubeconfigFolder } from '../kit/kubeconfig-file.ts';

let cluster: SimCluster;
let folder: KubeconfigFolder;
let gateway: RunningGateway;
let readOnly: RunningGateway;
let hasMutations = false;

beforeAll(async () => {
  cluster = await startSimCluster({ objects: 'empty' });
  folder = kubeconfigFolder();
  const options = { name: 'local', kubeconfig: folder.file('config', cluster.kubeconfig()) };
  gateway = await runGateway(options, { readOnly: 'false' });
  readOnly = await runGateway(options);
  const { data } = await ask(gateway.url, '{ __schema { mutationType { name } } }');
  hasMutations = (data as { __schema: { mutationType: unknown } }).__schema.mutationType !== null;
}, 60_000);
afterAll(async () => {
  await gateway?.close();
  await readOnly?.close();
  await cluster?.close();
  folder?.remove();
});

const tokenIn = (page: string): string => page.split('#token=')[1] ?? '';

let made = 0;

/** Creates a ConfigMap. The whole answer, as text. */
async function create(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  made += 1;
  const yaml = `apiVersion: v1\\nkind: ConfigMap\\nmetadata: { name: made-${made}, namespace: default }\\n`;
  const query = `mutation { create(docs: [{ yaml: "${yaml}" }]) { complete items { errors { code message } } } }`;
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers } };
  const response = await fetch(url, { ...init, body: JSON.stringify({ query }) });
  return response.text();
}

const isMade = (): boolean => cluster.list('/api/v1/configmaps').some((each) => nameOf(each) === `made-${made}`);

function nameOf(object: unknown): string {
  return (object as { readonly metadata: { readonly name: string } }).metadata.name;
}

test('the printed address has a token only if writes need one', async () => {
  expect(gateway.page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/graphql#token=[\w-]{43}$/);
  expect(gateway.url).not.toContain('token');
  expect(readOnly.page).toBe(readOnly.url);
});

test('reads need no token', async () => {
  const { data, errors } = (await ask(gateway.url, '{ configMaps { totalCount } }')) as Answer;
  expect([errors, data]).toEqual([undefined, { configMaps: { totalCount: expect.any(Number) } }]);
});

test('each start has another token', async () => {
  const another = await runGateway(
    { name: 'local', kubeconfig: folder.file('another', cluster.kubeconfig()) },
    { readOnly: 'false' },
  );
  expect(tokenIn(another.page)).not.toBe(tokenIn(gateway.page));
  await another.close();
});

test('--read-only=false is refused where everybody would write', async () => {
  const options = { name: 'local', kubeconfig: folder.file('open', cluster.kubeconfig()) };
  await expect(runGateway(options, { readOnly: 'false', auth: ['none'] })).rejects.toMatchObject({
    code: 'CONFIGURATION',
    message: expect.stringContaining('--read-only=false needs to know who writes'),
  });
});

describe('writes', () => {
  beforeEach(({ skip }) => {
    skip(!hasMutations, 'the schema has no mutations');
  });

  test('a write with the token is done', async () => {
    expect(await create(gateway.url, { authorization: `Bearer ${tokenIn(gateway.page)}` })).toContain(
      '"complete":true',
    );
    expect(isMade()).toBe(true);
  });

  test.each([
    ['without a token', {}],
    ['with another token', { authorization: 'Bearer abc' }],
    ['with credentials of another form', { authorization: 'Basic abc' }],
  ])('a write %s is refused', async (_what, headers) => {
    const answer = await create(gateway.url, headers as Record<string, string>);
    expect(answer).toContain('token of its start');
    expect(isMade()).toBe(false);
  });

  test('a write to a read-only gateway is refused', async () => {
    const answer = await create(readOnly.url, { authorization: `Bearer ${tokenIn(gateway.page)}` });
    expect(answer).toContain('read-only');
    expect(isMade()).toBe(false);
  });
});
