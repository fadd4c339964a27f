import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import {
  type Answer,
  type LoopbackServer,
  sendJson,
  sendStatus,
  startLoopbackServer,
} from '../../../test/kit/loopback-server.ts';
import { connect } from '../client/connection.ts';
import { RestClient } from '../client/rest-client.ts';
import { fetchOpenApi, type OpenApiSource } from './openapi.ts';

const folder = kubeconfigFolder();
const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => folder.remove());

async function serving(answer: Answer, path = ''): Promise<{ api: RestClient; server: LoopbackServer }> {
  const server = await startLoopbackServer(answer);
  closing.push(() => server.close());
  const connection = await connect({ env: {}, kubeconfig: folder.write({ server: server.url + path }) });
  closing.push(() => connection.close());
  return { api: new RestClient(connection), server };
}

const knownOf = (source: OpenApiSource) =>
  new Map([...source.documents.values()].map(({ hash, schemas }) => [hash, schemas]));
const urls = (server: LoopbackServer): string[] => server.requests.map((request) => request.url ?? '');

const v3: Answer = (request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://x');
  if (pathname === '/openapi/v3') {
    return sendJson(response, 200, {
      paths: {
        'api/v1': { serverRelativeURL: '/openapi/v3/api/v1?hash=AAA' },
        'apis/apps/v1': { serverRelativeURL: '/openapi/v3/apis/apps/v1?hash=BBB' },
        'apis/no.hash/v1': { serverRelativeURL: '/openapi/v3/apis/no.hash/v1' },
        'apis/broken.io/v1': { serverRelativeURL: '/openapi/v3/apis/broken.io/v1?hash=CCC' },
        'apis/away.io/v1': { serverRelativeURL: '//elsewhere.example/openapi' },
      },
    });
  }
  if (pathname.includes('broken')) return sendStatus(response, 503, 'ServiceUnavailable', 'away');
  sendJson(response, 200, { components: { schemas: { [pathname]: { type: 'object' } } } });
};

describe('v3', () => {
  test('fetches what is wanted, by group version, and reports what fails', async () => {
    const { api, server } = await serving(v3);
    const wanted = ['v1', 'apps/v1', 'broken.io/v1', 'away.io/v1', 'none.io/v1', 'v1'];
    const source = await fetchOpenApi(api, wanted);
    expect(source.form).toBe('v3');
    expect([...source.documents]).toEqual([
      ['v1', { hash: 'AAA', schemas: { '/openapi/v3/api/v1': { type: 'object' } } }],
      ['apps/v1', { hash: 'BBB', schemas: { '/openapi/v3/apis/apps/v1': { type: 'object' } } }],
    ]);
    // A server may work without a document.
    expect(source.failures.map((failure) => failure.groupVersion)).toEqual(['broken.io/v1']);
    expect(urls(server)).not.toContain('/openapi/v3/apis/no.hash/v1');
  });

  test('does not fetch again what is known by its hash', async () => {
    const { api, server } = await serving(v3);
    const wanted = ['v1', 'apps/v1', 'no.hash/v1'];
    const first = await fetchOpenApi(api, wanted);
    const before = server.requests.length;
    const second = await fetchOpenApi(api, wanted, { known: knownOf(first) });
    expect(urls(server).slice(before)).toEqual(['/openapi/v3', '/openapi/v3/apis/no.hash/v1']);
    for (const groupVersion of wanted) {
      expect(second.documents.get(groupVersion)?.schemas).toBe(first.documents.get(groupVersion)?.schemas);
    }
  });

  test.each(['/clusters/root/openapi/v3/api/v1?hash=A', '/openapi/v3/api/v1?hash=A'])(
    'stays below the path of the server, when it says %s',
    async (serverRelativeURL) => {
      const { api, server } = await serving((request, response) => {
        if (request.url === '/clusters/root/openapi/v3')
          sendJson(response, 200, { paths: { 'api/v1': { serverRelativeURL } } });
        else sendJson(response, 200, { components: { schemas: { a: {} } } });
      }, '/clusters/root/');
      expect((await fetchOpenApi(api, ['v1'])).documents.get('v1')?.schemas).toEqual({ a: {} });
      expect(urls(server)[1]).toBe('/clusters/root/openapi/v3/api/v1?hash=A');
    },
  );

  test('reports a document that is not one', async () => {
    const { api } = await serving((request, response) => {
      if (request.url === '/openapi/v3') v3(request, response);
      else response.end('[');
    });
    const source = await fetchOpenApi(api, ['v1']);
    expect(source.documents.size).toBe(0);
    expect(source.failures).toEqual([
      { groupVersion: 'v1', message: expect.stringContaining('not an OpenAPI document') },
    ]);
  });
});

describe('v2', () => {
  const withTag =
    (tag: string | undefined): Answer =>
    (request, response) => {
      if (request.url !== '/openapi/v2') return sendStatus(response, 404, 'NotFound', 'not here');
      if (tag !== undefined && request.headers['if-none-match']?.includes(tag)) {
        response.writeHead(304, { etag: tag }).end();
        return;
      }
      sendJson(response, 200, { definitions: { a: {} } }, tag === undefined ? {} : { etag: tag });
    };

  test('is the one document of all where there is no v3, and is not sent again while its tag is known', async () => {
    const { api, server } = await serving(withTag('"T1"'));
    const first = await fetchOpenApi(api, ['v1', 'apps/v1']);
    expect(first).toMatchObject({ form: 'v2', failures: [] });
    expect([...first.documents]).toEqual([['*', { hash: 'etag:"T1"', schemas: { a: {} } }]]);
    const second = await fetchOpenApi(api, ['v1'], { known: new Map([...knownOf(first), ['AAA', {}]]) });
    expect(second.documents.get('*')?.schemas).toBe(first.documents.get('*')?.schemas);
    expect(server.requests.at(-1)?.headers['if-none-match']).toBe('"T1"');
  });

  test('is known by its content where it has no tag', async () => {
    const { api } = await serving(withTag(undefined));
    const first = await fetchOpenApi(api, []);
    const second = await fetchOpenApi(api, [], { known: knownOf(first) });
    expect(second.documents.get('*')).toEqual(first.documents.get('*'));
    expect(second.documents.get('*')?.schemas).toBe(first.documents.get('*')?.schemas);
  });

  test('throws where neither form is served', async () => {
    const { api } = await serving((_, response) => sendStatus(response, 404, 'NotFound', 'not here'));
    await expect(fetchOpenApi(api, ['v1'])).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
