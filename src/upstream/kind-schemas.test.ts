/**
 * The JSON Schemas of kinds from a server that sends any answer. Tested are the user of the requests, the kept data, and the reach of an
 * attacker.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type KubeconfigFolder, kubeconfigFolder } from '../../test/kit/kubeconfig-file.ts';
import { type LoopbackServer, sendJson, sendStatus, startLoopbackServer } from '../../test/kit/loopback-server.ts';
import type { Resource } from '../catalog/resources/resource.ts';
import { connect } from '../kube/client/connection.ts';
import { BearerToken } from '../kube/credentials/bearer-token.ts';
import { CallerClients } from './caller-clients.ts';
import { KindSchemas } from './kind-schemas.ts';
import { OpenApiDocuments } from './openapi-documents.ts';

let folder: KubeconfigFolder;
beforeAll(() => {
  folder = kubeconfigFolder();
});
afterAll(() => folder.remove());

const widget: Resource = {
  group: 'a.example.com',
  version: 'v1',
  plural: 'widgets',
  singular: 'widget',
  kind: 'Widget',
  namespaced: true,
  verbs: [],
  shortNames: [],
  categories: [],
};

function definition(spec: unknown): string {
  const mark = [{ group: widget.group, version: widget.version, kind: widget.kind }];
  return JSON.stringify({
    type: 'object',
    properties: { metadata: {}, spec },
    'x-kubernetes-group-version-kind': mark,
  });
}

interface Answers {
  /** The hash that the index announces; null for a server without v3. */
  readonly hash?: () => string | null;
  readonly document?: () => string;
  readonly crd?: object;
}

interface Server {
  readonly server: LoopbackServer;
  /** The schemas for a user, whose token is the name; `stranger` may read nothing. */
  of(user: string): Promise<Record<string, unknown>>;
  readonly paths: () => readonly string[];
}

async function serverWith(answers: Answers): Promise<Server> {
  const { hash = () => 'A', document = () => '{}' } = answers;
  const server = await startLoopbackServer((request, response) => {
    const { authorization, 'if-none-match': tag } = request.headers;
    const path = request.url ?? '';
    const announced = hash();
    if (authorization === 'Bearer stranger') sendStatus(response, 403, 'Forbidden', 'not allowed');
    else if (path === '/openapi/v3' && announced !== null) {
      const serverRelativeURL = `/openapi/v3/apis/a.example.com/v1?hash=${announced}`;
      sendJson(response, 200, { paths: { 'apis/a.example.com/v1': { serverRelativeURL } } });
    } else if (path.startsWith('/openapi/v3/') || path === '/openapi/v2') {
      response.writeHead(tag === '"two"' ? 304 : 200, { 'content-type': 'application/json', etag: '"two"' });
      response.end(tag === '"two"' ? undefined : document());
    } else if (path.includes('/customresourcedefinitions/') && answers.crd !== undefined) {
      sendJson(response, 200, answers.crd);
    } else sendStatus(response, 404, 'NotFound', 'nothing here');
  });
  onTestFinished(() => server.close());
  const kubeconfig = folder.write({ server: server.url }, { token: 'gateway' }, 'east');
  const clients = new CallerClients([await connect({ env: {}, name: 'east', kubeconfig })]);
  onTestFinished(() => clients.close());
  const documents = new OpenApiDocuments();
  return {
    server,
    of(user) {
      const client = clients.client('east', { type: 'token', cluster: 'east', token: new BearerToken(user) });
      return new KindSchemas(client, documents, undefined).of(widget) as Promise<Record<string, unknown>>;
    },
    paths: () => server.requests.map(({ url = '' }) => url),
  };
}

const v3 = (schemas: string): string => `{"paths":{"/a":{}},"components":{"schemas":{${schemas}}}}`;
const plain = v3(`"Widget":${definition({ type: 'object', properties: { size: { type: 'string' } } })}`);

describe('documents', () => {
  test('are read as the caller, and one copy serves all callers who may read the index', async () => {
    const { server, of, paths } = await serverWith({ document: () => plain });
    const jane = await of('jane');
    expect(await of('joe')).toEqual(jane);
    expect(paths()).toEqual(['/openapi/v3', '/openapi/v3/apis/a.example.com/v1?hash=A', '/openapi/v3']);
    await expect(of('stranger')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    expect(server.requests.map(({ headers }) => headers.authorization)).not.toContain('Bearer gateway');
  });

  test('are read again when the hash is another one', async () => {
    let hash = 'A';
    const { of, paths } = await serverWith({ document: () => plain, hash: () => hash });
    await of('jane');
    hash = 'B';
    await of('jane');
    expect(paths().filter((path) => path.includes('hash='))).toHaveLength(2);
  });

  test('of a server without v3 are asked for by their tag, and the definition of the kind is read', async () => {
    const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta';
    const schema = { type: 'object', properties: { spec: { type: 'object', properties: { a: { type: 'integer' } } } } };
    const crd = { spec: { versions: [{ name: 'v1', schema: { openAPIV3Schema: schema } }] } };
    const document = `{"definitions":{"${meta}":{"type":"object","properties":{"name":{"type":"string"}}}}}`;
    const { of, server } = await serverWith({ hash: () => null, document: () => document, crd });
    const first = await of('jane');
    expect(first).toMatchObject({
      properties: { metadata: { allOf: [{ $ref: `#/$defs/${meta}` }] }, spec: { additionalProperties: false } },
    });
    expect(await of('joe')).toEqual(first);
    expect(server.requests.map(({ headers }) => headers['if-none-match'])).toContain('"two"');
    await expect(of('stranger')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });
});

describe('a hostile document', () => {
  const refers = (name: string): string => `{"$ref":"#/components/schemas/${name}"}`;
  const hostile: Readonly<Record<string, string>> = {
    'of 10 MB, in which the kind is small': `{"paths":{"a":"${'x'.repeat(10_000_000)}"},${plain.slice(1)}`,
    'with circles': v3(
      `"Widget":{${definition({})
        .slice(1, -1)
        .replace('"spec":{}', `"spec":${refers('A')}`)}},"A":${refers('B')},"B":${refers('A')}`,
    ),
    'with names of JavaScript': v3(
      `"Widget":${definition({}).replace('"spec":{}', `"__proto__":${refers('__proto__')},"spec":${refers('constructor')}`)},"__proto__":{"type":"object","properties":{"__proto__":{"type":"string"}}},"constructor":{"type":"string"}`,
    ),
    'with nested brackets': v3(`"Widget":${definition({})},"A":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}`),
    'with types that are none': v3(
      `"Widget":${definition({ type: { a: 1 }, properties: [1], required: 7, enum: 'a', pattern: 1, items: 'x', allOf: 1, not: [] })}`,
    ),
  };

  test.each(Object.entries(hostile))('%s gives a schema', async (_what, document) => {
    const { of } = await serverWith({ document: () => document });
    const schema = await of('jane');
    expect(schema).toMatchObject({ title: 'Widget of a.example.com/v1' });
    expect(JSON.stringify(schema).length).toBeLessThan(10_000);
    expect(({} as Record<string, unknown>)['type']).toBeUndefined();
  });

  const refused: Readonly<Record<string, readonly [string, string]>> = {
    'that is no JSON': ['<html>', 'not an OpenAPI document'],
    'that ends early': [plain.slice(0, -3), 'not an OpenAPI document'],
    'without the kind': ['{"components":{"schemas":{}}}', 'has no schema for Widget'],
    'with a kind of 5 MB': [v3(`"Widget":${definition({ description: 'x'.repeat(5_000_000) })}`), 'longer than 4 MiB'],
    'of more than 32 MiB': [`"${'x'.repeat(33 * 1024 * 1024)}"`, 'more than 33554432 bytes'],
    'with a million definitions': [
      v3(Array.from({ length: 1_000_000 }, (_, index) => `"${index}":1`).join()),
      'more than 50000 definitions',
    ],
  };

  test.each(Object.entries(refused))('%s is refused', async (_what, [document, message]) => {
    const { of } = await serverWith({ document: () => document });
    await expect(of('jane')).rejects.toThrow(message);
  });

  test('of 10 MB lets the thread do its other work', async () => {
    const { of } = await serverWith({ document: () => hostile['with nested brackets'] ?? '' });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    onTestFinished(() => clearInterval(timer));
    await of('jane');
    expect(turns).toBeGreaterThan(0);
  });
});
