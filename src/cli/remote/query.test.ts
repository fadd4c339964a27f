/** `query`, and the tokens of remote commands, at a gateway with authentication. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type SimCluster, startSimCluster } from '../../../sim/sim-cluster.ts';
import { type RunningGateway, runGateway } from '../../../test/kit/gateway.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import type { RemoteConfig } from './gateway-client.ts';
import { type QueryFlags, query } from './query.ts';
import { relations } from './relations.ts';
import { status } from './status.ts';

const admin = 'token-of-admin';
const reader = 'token-of-reader';
const folder = kubeconfigFolder();
let cluster: SimCluster;
let gateway: RunningGateway;

beforeAll(async () => {
  const users = [
    { token: admin, user: 'admin', groups: ['system:masters'] },
    { token: reader, user: 'reader', groups: [] },
  ];
  cluster = await startSimCluster({ objects: 'demo', pods: 10, churn: false, features: { users } });
  gateway = await runGateway(
    { name: 'east', kubeconfig: folder.file('config', cluster.kubeconfig()) },
    { auth: ['token'] },
  );
});

afterAll(async () => {
  await gateway?.close();
  await cluster?.close();
  folder.remove();
});

async function runQuery(flags: QueryFlags, { input = '', ...remote }: Partial<RemoteConfig> & { input?: string } = {}) {
  let out = '';
  const code = await query({ url: gateway.url, token: admin, ...remote }, flags, {
    input: Readable.from([input]),
    output: { write: (text) => (out += text) },
  });
  return { code, out, answer: JSON.parse(out) };
}

const count = '{ nodes { totalCount } }';

describe('query', () => {
  test('prints the answer to a document of the command line', async () => {
    const { code, out, answer } = await runQuery({ document: count });
    expect(code).toBe(0);
    expect(answer.data.nodes.totalCount).toBeGreaterThan(0);
    expect(out).toBe(`${JSON.stringify(answer, null, 2)}\n`);
  });

  test('reads the document from a file, and from standard input', async () => {
    const file = join(folder.dir, 'count.graphql');
    writeFileSync(file, count);
    const expected = (await runQuery({ document: count })).answer.data;
    expect((await runQuery({ file })).answer.data).toEqual(expected);
    expect((await runQuery({}, { input: count })).answer.data).toEqual(expected);
    expect((await runQuery({ file: '-' }, { input: count })).answer.data).toEqual(expected);
    expect((await runQuery({ document: '-' }, { input: count })).answer.data).toEqual(expected);
  });

  test('sends variables and the name of the operation', async () => {
    const document = 'query A($first: Int) { nodes(first: $first) { nodes { kind } } } query B { viewer { name } }';
    const a = await runQuery({ document, operation: 'A', variables: '{"first": 1}' });
    expect(a.answer.data.nodes.nodes).toEqual([{ kind: 'Node' }]);
    expect((await runQuery({ document, operation: 'B' })).answer.data.viewer).toEqual({ name: 'admin' });
  });

  test('keeps the digits of numbers of 64 bits', async () => {
    const asked: string[] = [];
    const server = await startLoopbackServer((request, response) => {
      request.on('data', (part) => asked.push(String(part)));
      request.on('end', () => response.end('{"data":{"a":9007199254740993,"b":1.50}}'));
    });
    onTestFinished(() => server.close());
    const { out } = await runQuery({ document: '{ a }', variables: '{"n":9007199254740993}' }, { url: server.url });
    expect(out).toBe('{\n  "data": {\n    "a": 9007199254740993,\n    "b": 1.50\n  }\n}\n');
    expect(asked.join('')).toBe('{"query":"{ a }","variables":{"n":9007199254740993}}');
  });

  test.each([
    ['a document that is not valid', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a list that the caller may not see', '{ secrets { totalCount } }', 'FORBIDDEN'],
  ])('%s is exit code 1, with the errors', async (_what, document, code) => {
    const found = await runQuery({ document }, { token: reader });
    expect(found.code).toBe(1);
    expect(found.answer.errors[0].extensions.code).toBe(code);
  });

  test.each([
    [{ document: count, file: 'x' }, '--file, not both'],
    [{ file: 'none.graphql' }, '--file none.graphql cannot be read'],
    [{ document: 'fragment F on Pod { id } subscription { podChanges { phase } }' }, 'run it with portolan watch'],
    [{ document: 'query A { a } subscription B { b }', operation: 'B' }, 'run it with portolan watch'],
    [{ document: '  ' }, "such as portolan query '{ pods { totalCount } }'"],
    [{}, 'The document is empty'],
    [{ document: count, variables: '[1]' }, '--variables must be a JSON object'],
    [{ document: count, variables: '{first: 1}' }, '--variables must be a JSON object'],
  ])('%j is refused', async (flags, message) => {
    await expect(runQuery(flags)).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining(message),
    });
  });

  test('a server that is no gateway is named', async () => {
    const server = await startLoopbackServer((_request, response) => sendJson(response, 200, { ok: true }));
    onTestFinished(() => server.close());
    await expect(runQuery({ document: count }, { url: server.url })).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('cannot be queried as a Portolan gateway'),
    });
  });
});

describe('a gateway with authentication', () => {
  const commands: Readonly<Record<string, (remote: RemoteConfig) => Promise<unknown>>> = {
    query: (remote) => runQuery({ document: count }, remote),
    status: (remote) => status({ ...remote, all: false, failing: false, json: true }, { write: () => {} }),
    relations: (remote) => relations({ ...remote, suggest: false, json: true }, { write: () => {} }),
  };

  test.each(Object.keys(commands))('%s works with a token', async (name) => {
    await expect(commands[name]?.({ url: gateway.url, token: `${admin}\n` })).resolves.toBeDefined();
  });

  test.each(Object.keys(commands))('%s says what to do without one, and with a wrong one', async (name) => {
    for (const token of [undefined, 'wrong']) {
      await expect(commands[name]?.({ url: gateway.url, token })).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
        message: expect.stringMatching(/needs a valid token .*; give one with PORTOLAN_TOKEN or --token/),
      });
    }
  });

  test('text that is no token is not sent, and not printed', async () => {
    await expect(commands['query']?.({ url: gateway.url, token: 'secret part\nother' })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.not.stringContaining('secret'),
    });
  });
});
