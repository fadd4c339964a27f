/** /schema.graphql, and profiles: the schema that tools see, with the names of the whole. */
import {
  buildClientSchema,
  buildSchema,
  getIntrospectionQuery,
  isObjectType,
  parse,
  printSchema,
  validate,
} from 'graphql';
import { createClient } from 'graphql-ws';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { engineFixture } from '../../../test/kit/engine-fixture.ts';
import { describeSimulatedKinds } from '../../../test/kit/simulated-kinds.ts';
import type { Denial } from '../../admission/audit.ts';
import { type CallerBounds, defaultBounds } from '../../admission/caller-limits.ts';
import { PortolanError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { startServer } from '../http-server.ts';

const profiles = ['team=pods deployments.apps Node', 'team=nodes no-such-kind', 'custom=*.shop.example.com'];

async function world({
  bounds,
  known,
  profile = profiles,
}: {
  bounds?: Partial<CallerBounds>;
  /** Callers are known when it resolves. */
  known?: Promise<void>;
  profile?: readonly string[];
} = {}) {
  const fixture = engineFixture();
  await fixture.declare(...(await describeSimulatedKinds({ objects: 'demo', pods: 0, churn: false })));
  const denials: Denial[] = [];
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: fixture.engine.source,
    authenticate: async ({ header }) => {
      await known;
      const name = header('x-name');
      if (name === undefined) throw new PortolanError('UNAUTHENTICATED', 'Say who you are.');
      return { name, user: { user: name, groups: [], uid: '', extra: {} }, validUntil: null };
    },
    callerBounds: { ...defaultBounds, ...bounds },
    audit: { denied: (denial) => void denials.push(denial) },
    profiles: () => profile,
    readiness: () => ({ ready: true }),
    tabs: [],
    pages: fixture.pages,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const get = (path: string, headers: Record<string, string> = { 'x-name': 'olga' }): Promise<Response> =>
    fetch(new URL(path, server.url), { headers });
  const introspect = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
    const response = await fetch(new URL(path, server.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-name': 'olga', ...headers },
      body: JSON.stringify({
        query: getIntrospectionQuery({ specifiedByUrl: true, schemaDescription: true, oneOf: true }),
      }),
    });
    const { data, errors } = (await response.json()) as { data: never; errors?: readonly { message: string }[] };
    return errors === undefined ? printSchema(buildClientSchema(data)) : (errors[0]?.message ?? '');
  };
  return { fixture, server, get, introspect, denials };
}

test('the schema is printed as introspection tells it, in each coding', async () => {
  const { fixture, get, introspect } = await world();
  const wanted = printSchema(fixture.engine.source.generation().schema);
  for (const coding of ['identity', 'gzip', 'br', 'zstd']) {
    const response = await get('/schema.graphql', { 'x-name': 'olga', 'accept-encoding': coding });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(response.headers.get('content-encoding') ?? 'identity').toBe(coding);
    expect(await response.text()).toBe(`${wanted}\n`);
  }
  expect(await introspect('/graphql')).toBe(wanted);
});

test('a profile has its kinds, the relations between them, and the names of the whole', async () => {
  const { fixture, get, introspect } = await world();
  const whole = fixture.engine.source.generation().schema;
  const text = await (await get('/schema.graphql?profile=team')).text();
  const part = buildSchema(text);
  const roots = Object.keys(part.getQueryType()?.getFields() ?? {});
  expect(roots).toEqual(expect.arrayContaining(['pods', 'pod', 'deployments', 'nodes', 'objects', 'resources']));
  expect(roots).not.toContain('services');
  for (const type of Object.values(part.getTypeMap())) {
    const other = whole.getType(type.name);
    expect(other?.constructor.name, type.name).toBe(type.constructor.name);
    if (!isObjectType(type) || !isObjectType(other)) continue;
    for (const [name, field] of Object.entries(type.getFields())) {
      expect(String(other.getFields()[name]?.type), `${type.name}.${name}`).toBe(String(field.type));
    }
  }
  // Relations lead to the kinds of the profile only.
  const pod = part.getType('Pod');
  const related = isObjectType(pod) ? pod.getFields() : {};
  expect([related['node'] !== undefined, related['services'] !== undefined]).toEqual([true, false]);
  expect(validate(whole, parse('{ pods { nodes { node { metadata { name } } } } }'))).toEqual([]);

  expect(`${await introspect('/graphql?profile=team')}\n`).toBe(text);
  expect(`${await introspect('/graphql', { 'x-portolan-profile': 'team' })}\n`).toBe(text);
  expect(await (await get('/schema.graphql', { 'x-name': 'olga', 'x-portolan-profile': 'team' })).text()).toBe(text);
});

test('the URL of a WebSocket names a profile, as a header does', async () => {
  const { server } = await world();
  const rootsAt = async (path: string, headers: Record<string, string> = {}): Promise<readonly string[]> => {
    class NamedSocket extends WebSocket {
      constructor(address: string | URL, protocols?: string | string[]) {
        super(address, protocols, { headers: { 'x-name': 'olga', ...headers } });
      }
    }
    const client = createClient({
      url: new URL(path, server.url.replace('http', 'ws')).href,
      webSocketImpl: NamedSocket,
      retryAttempts: 0,
    });
    onTestFinished(async () => client.dispose());
    const query = '{ __schema { queryType { fields { name } } } }';
    const { value } = await client
      .iterate<{ __schema: { queryType: { fields: { name: string }[] } } }>({ query })
      .next();
    return value?.data?.__schema.queryType.fields.map(({ name }: { name: string }) => name) ?? [];
  };
  expect(await rootsAt('/graphql')).toContain('services');
  for (const roots of [
    await rootsAt('/graphql?profile=team'),
    await rootsAt('/graphql', { 'x-portolan-profile': 'team' }),
  ]) {
    expect([roots.includes('pods'), roots.includes('services')]).toEqual([true, false]);
  }
});

test('an unknown profile is told, with those that there are', async () => {
  const { get, introspect } = await world();
  const message = 'There is no profile "nope": there are team, custom.';
  const response = await get('/schema.graphql?profile=nope');
  expect(response.status).toBe(400);
  expect(await response.json()).toEqual({ errors: [{ message, extensions: { code: 'BAD_USER_INPUT' } }] });
  expect(await introspect('/graphql?profile=nope')).toBe(message);
  const none = await world({ profile: [] });
  expect(await none.introspect('/graphql?profile=team')).toContain('--profile declares them');
});

test('a caller without credentials gets 401, and the audit says so', async () => {
  const { get, denials } = await world();
  const response = await get('/schema.graphql', {});
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
  expect(denials).toMatchObject([{ code: 'UNAUTHENTICATED', path: ['/schema.graphql'] }]);
});

test('a client that leaves before its caller is known has nothing in flight', async () => {
  const { promise: known, resolve } = Promise.withResolvers<void>();
  const { server } = await world({ bounds: { requests: 1 }, known });
  const get = (signal?: AbortSignal): Promise<Response> =>
    fetch(new URL('/schema.graphql', server.url), { headers: { 'x-name': 'olga' }, ...(signal && { signal }) });
  const leaving = new AbortController();
  const left = get(leaving.signal).catch(() => null);
  await new Promise((later) => setTimeout(later, 300));
  leaving.abort();
  expect(await left).toBeNull();
  await new Promise((later) => setTimeout(later, 300));
  resolve();
  await new Promise((later) => setTimeout(later, 300));
  expect((await get()).status).toBe(200);
});

test('the schema is charged: who asks for it again and again must wait', async () => {
  const { get } = await world({ bounds: { costPerMinute: 200_000 } });
  const statuses: number[] = [];
  const plain = { 'x-name': 'olga', 'accept-encoding': 'identity' };
  for (let turn = 0; turn < 5; turn += 1) statuses.push((await get('/schema.graphql', plain)).status);
  expect(statuses[0]).toBe(200);
  expect(statuses.at(-1)).toBe(429);
  expect((await get('/schema.graphql', { 'x-name': 'otto' })).status).toBe(200);
});
