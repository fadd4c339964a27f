/** Requests for sets over a store: forms, selections, pages, watches and rights. */
import { once } from 'node:events';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type AggregateDoorFixture, aggregateDoor, asJane } from '../../test/kit/aggregate-door.ts';
import { type CertificateAuthority, createCertificateAuthority } from '../../test/kit/certificates.ts';
import { eventually } from '../../test/kit/eventually.ts';
import { kubeconfigFolder } from '../../test/kit/kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from '../../test/kit/loopback-server.ts';
import { sampleOf } from '../../test/kit/prometheus-text.ts';
import { randomRuns } from '../../test/kit/random-runs.ts';
import { storedRecord } from '../../test/kit/shadow-records.ts';
import { pod, servedResource } from '../../test/kit/store-file.ts';
import { fixedRights, type Rights, seesEverything } from '../access/rights.ts';
import { allRows, noRows } from '../access/scope.ts';
import { defaultBounds } from '../admission/caller-limits.ts';
import { connect } from '../kube/client/connection.ts';
import { RestClient } from '../kube/client/rest-client.ts';
import type { CallerClient } from '../upstream/caller-clients.ts';

let authority: CertificateAuthority;
beforeAll(async () => {
  authority = await createCertificateAuthority('Proxies');
});
afterAll(() => authority.remove());

const all = '/apis/shadow.portolan.dev/v1alpha1/shadowresources';
const inShop = '/apis/shadow.portolan.dev/v1alpha1/namespaces/shop/shadowresources';
const records = 'shadowrecords.portolan.dev';
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io';
const metadataType = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

const podAt = (name: string, rv: number, note: unknown = 'x', more: object = {}): object =>
  JSON.parse(pod({ name, namespace: 'shop', rv, rest: { spec: { note, other: 1 }, ...more } }).text);
const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } };

/** A door over two sets: web of the Pod a and the Secret keys, and api without members. */
async function shopDoor(options: Parameters<typeof aggregateDoor>[1] = {}): Promise<AggregateDoorFixture> {
  const door = await aggregateDoor(authority, options);
  const { fixture } = door;
  await fixture.declare(
    servedResource({ plural: 'shadowrecords', kind: 'ShadowRecord', group: 'portolan.dev', version: 'v1alpha1' }),
    servedResource({}),
    servedResource({ plural: 'secrets', kind: 'Secret', redacted: ['data'] }),
  );
  await fixture.sync('pods', [podAt('a', 101, 'one', ready)]);
  await fixture.sync('secrets', [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'keys', namespace: 'shop', uid: 'uid-shop-keys', resourceVersion: '102' },
      data: { a: 'c2VjcmV0' },
    },
  ]);
  await fixture.sync(records, [
    storedRecord({ name: 'api', rv: 103, labels: { tier: 'back', 'applyset.kubernetes.io/id': 'applyset-x-v1' } }),
    storedRecord({ name: 'web', rv: 104, members: ['Pod/a', 'Secret/keys'], labels: { tier: 'front' } }),
  ]);
  return door;
}

const accept = (type: string) => ({ headers: [...asJane, ['Accept', type]] as const });
const namesOf = ({ body }: { readonly body: { readonly items: readonly { metadata: { name: string } }[] } }) =>
  body.items.map(({ metadata }) => metadata.name);

/** A connection as the aggregator has it. */
async function rawConnection({ port, front: { cert, key } }: AggregateDoorFixture): Promise<TLSSocket> {
  const target = { host: '127.0.0.1', port, ca: authority.ca, servername: 'localhost' };
  const socket = connectTls({ ...target, cert, key });
  onTestFinished(() => void socket.destroy());
  socket.on('error', () => {});
  await once(socket, 'secureConnect');
  return socket;
}

test('a request whose client has left before the answer is counted without a code', async () => {
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<boolean>();
  const allows = (): Promise<boolean> => {
    asked.resolve();
    return held.promise;
  };
  const door = await shopDoor({ rights: { ...seesEverything, allows } });
  const socket = await rawConnection(door);
  socket.write(`GET ${inShop}/web HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: jane\r\n\r\n`);
  await asked.promise;
  socket.destroy();
  await eventually(async () => {
    const labels = { verb: 'get', code: '0' };
    expect(sampleOf(await door.metrics(), 'portolan_set_requests_total', labels)).toBe(1);
  });
  held.resolve(true);
});

test('requests, watches and members that were read are counted', async () => {
  const door = await shopDoor();
  const samples = async (name: string) => {
    const text = await door.metrics();
    return (labels: Readonly<Record<string, string>> = {}) => sampleOf(text, `portolan_set_${name}`, labels) ?? 0;
  };
  await door.ask(`${inShop}/web`);
  await door.ask(`${inShop}/none`);
  await door.ask(all);
  await door.ask(inShop, { method: 'DELETE' });
  await door.ask(inShop, { method: 'OPTIONS' });
  await door.ask('/apis');
  await door.ask('/healthz');
  await door.ask(all, { headers: [] });
  await eventually(async () => {
    const requests = await samples('requests_total');
    expect([
      requests({ verb: 'get', code: '200' }),
      requests({ verb: 'get', code: '404' }),
      requests({ verb: 'list', code: '200' }),
      requests({ verb: 'list', code: '401' }),
      requests({ verb: 'deletecollection', code: '405' }),
      requests({ verb: 'other', code: '405' }),
      requests({ verb: 'discovery', code: '200' }),
    ]).toEqual([1, 1, 1, 1, 1, 1, 1]);
  });
  // The set web has two members, and api has none: one get and one list.
  expect((await samples('members_read_total'))()).toBe(4);
  expect((await samples('request_duration_seconds_count'))({ verb: 'get' })).toBe(2);
  const watch = await door.watch(`${all}?watch=1`);
  await eventually(async () => expect((await samples('watches'))()).toBe(1));
  door.drain(200);
  await watch.ended;
  await eventually(async () => {
    expect((await samples('watches'))()).toBe(0);
    expect((await samples('requests_total'))({ verb: 'watch', code: '200' })).toBe(1);
    expect((await samples('request_duration_seconds_count'))({ verb: 'watch' })).toBe(0);
  });
});

test('a gateway that is read-only refuses writes, and says why', async () => {
  const door = await shopDoor();
  for (const [method, path] of [
    ['POST', inShop],
    ['PUT', `${inShop}/web`],
    ['PATCH', `${inShop}/web`],
    ['DELETE', `${inShop}/web`],
    ['DELETE', inShop],
  ] as const) {
    expect((await door.ask(path, { method })).body, `${method} ${path}`).toMatchObject({
      code: 405,
      reason: 'MethodNotAllowed',
      message: 'This Portolan is read-only: start it with --read-only=false.',
    });
  }
});

describe('get and list', () => {
  test('one set, its version, and its live members as references without a client', async () => {
    const door = await shopDoor();
    const { body } = await door.ask(`${inShop}/web`);
    expect(body).toMatchObject({
      metadata: { name: 'web', uid: 'uid-of-web', resourceVersion: '104', labels: { tier: 'front' } },
      spec: {
        flowList: [
          { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'shop' }, spec: { note: 'one' } },
          { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys', namespace: 'shop' } },
        ],
      },
      status: { ready: '2/2', conditions: [{ status: 'True', reason: 'MembersCurrent' }] },
    });
    expect(body.spec.flowList[0].spec).toEqual({ note: 'one' });
    expect(JSON.stringify(body)).not.toContain('c2VjcmV0');
    expect((await door.ask(`${inShop}/api`)).body.metadata.labels).toEqual({ tier: 'back' });
    expect((await door.ask(`${inShop}/none`)).body).toMatchObject({
      code: 404,
      reason: 'NotFound',
      message: 'shadowresources.shadow.portolan.dev "none" not found',
      details: { name: 'none', group: 'shadow.portolan.dev', kind: 'shadowresources' },
    });
  });

  test('a member changes, goes and is replaced: the version rises each time, also by a deletion', async () => {
    const door = await shopDoor();
    const now = async () => (await door.ask(`${inShop}/web`)).body;
    await now();
    door.fixture.apply('pods', 'MODIFIED', podAt('a', 110, 'two', ready));
    await expect.poll(async () => (await now()).metadata.resourceVersion).toBe('110');
    expect((await now()).spec.flowList[0].spec).toEqual({ note: 'two' });
    door.fixture.apply('pods', 'DELETED', podAt('a', 120));
    await expect.poll(async () => (await now()).metadata.resourceVersion).toBe('120');
    expect(await now()).toMatchObject({
      spec: { flowList: [{ kind: 'Secret' }] },
      status: {
        ready: '1/2',
        members: [
          { name: 'a', state: 'Missing' },
          { name: 'keys', state: 'Present' },
        ],
        conditions: [{ status: 'False', reason: 'MemberMissing', message: 'Pod a is gone.' }],
      },
    });
    const other = podAt('a', 130) as { metadata: object };
    door.fixture.apply('pods', 'ADDED', { ...other, metadata: { ...other.metadata, uid: 'another' } });
    await expect.poll(async () => (await now()).status.members[0].state).toBe('Replaced');
    expect((await now()).spec.flowList).toHaveLength(1);
  });

  test('bodies are read once, and again for what has changed', async () => {
    const door = await shopDoor();
    await door.ask(all);
    const bodies = async (path: string): Promise<number> => {
      const before = door.fixture.statements.length;
      await door.ask(path);
      return door.fixture.statements.slice(before).filter(({ sql }) => sql.includes('body AS b')).length;
    };
    expect(await bodies(all)).toBe(0);
    expect(await bodies(`${inShop}/web`)).toBe(0);
    door.fixture.apply('pods', 'MODIFIED', podAt('a', 110, 'two', ready));
    // The version of a list is that of the changes: they have read the body by then.
    await expect.poll(async () => (await door.ask(all)).body.metadata.resourceVersion).toBe('110');
    expect(await bodies(all)).toBe(0);
    expect((await door.ask(`${inShop}/web`)).body.spec.flowList[0].spec).toEqual({ note: 'two' });
  });

  test('selections, pages and versions', async () => {
    const door = await shopDoor();
    for (const [query, names] of [
      ['', ['api', 'web']],
      ['labelSelector=tier%3Dfront', ['web']],
      ['labelSelector=tier%20notin%20(front)', ['api']],
      ['labelSelector=applyset.kubernetes.io/id', []],
      ['fieldSelector=metadata.name%3Dapi', ['api']],
      ['fieldSelector=metadata.namespace!%3Dshop', []],
      ['resourceVersion=0', ['api', 'web']],
      ['limit=-1', ['api', 'web']],
      ['resourceVersion=90&resourceVersionMatch=NotOlderThan', ['api', 'web']],
      ['resourceVersion=104&resourceVersionMatch=Exact', ['api', 'web']],
    ] as const) {
      expect(namesOf(await door.ask(`${all}?${query}`)), query).toEqual(names);
    }
    const first = await door.ask(`${all}?limit=1`);
    expect(first.body.metadata).toMatchObject({ resourceVersion: '104', remainingItemCount: 1 });
    door.fixture.apply(records, 'ADDED', storedRecord({ name: 'zoo', rv: 150 }));
    await expect.poll(async () => (await door.ask(all)).body.metadata.resourceVersion).toBe('150');
    const rest = await door.ask(`${all}?limit=5&continue=${first.body.metadata.continue}`);
    expect(namesOf(rest)).toEqual(['web', 'zoo']);
    expect(rest.body.metadata).toEqual({ resourceVersion: '104' });
    const token = (content: unknown): string => Buffer.from(JSON.stringify(content)).toString('base64url');
    const old = token(['1', 'shop', 'api', null]);
    for (const [query, code, reason] of [
      ['continue=nonsense', 400, 'BadRequest'],
      [`continue=${token(['104', 'shop', 'api'])}`, 400, 'BadRequest'],
      [`continue=${token(['104', 'shop', 'api', -1])}`, 400, 'BadRequest'],
      [`continue=${token(['104', 'shop', 'api', 1e300])}`, 400, 'BadRequest'],
      [`continue=${token(['104', 'shop', ['api'], 1])}`, 400, 'BadRequest'],
      [`continue=${old}`, 410, 'Expired'],
      ['resourceVersion=104&resourceVersionMatch=Exact', 410, 'Expired'],
      ['resourceVersion=999', 504, 'Timeout'],
      ['resourceVersion=x', 400, 'BadRequest'],
      ['resourceVersionMatch=Exact', 422, 'Invalid'],
      ['sendInitialEvents=true', 422, 'Invalid'],
      ['watch=1&sendInitialEvents=true', 422, 'Invalid'],
      ['watch=1&resourceVersionMatch=NotOlderThan', 422, 'Invalid'],
      ['watch=1&resourceVersion=50', 410, 'Expired'],
      // It would show sets that may be older than the client's.
      [
        'watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=999',
        504,
        'Timeout',
      ],
      ['limit=x', 400, 'BadRequest'],
      ['labelSelector=%3D%3D', 400, 'BadRequest'],
      ['fieldSelector=spec.phase%3Dx', 400, 'BadRequest'],
      ['includeObject=Half', 400, 'BadRequest'],
    ] as const) {
      const { status, body } = await door.ask(`${all}?${query}`);
      expect([status, body.kind, body.reason], query).toEqual([code, 'Status', reason]);
    }
  });

  test('tables and metadata', async () => {
    const door = await shopDoor();
    const table = (await door.ask(all, accept(`application/vnd.kubernetes.protobuf,${tableType},application/json`)))
      .body;
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata: { resourceVersion: '104' } });
    expect(table.columnDefinitions.map(({ name }: { name: string }) => name)).toEqual([
      'Name',
      'Ready',
      'Phase',
      'Status',
      'Age',
      'Message',
    ]);
    expect(table.rows[1].cells.slice(0, 4)).toEqual(['web', '2/2', 'Applied', 'MembersCurrent']);
    expect(table.rows[1].object).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name: 'web' } });
    expect((await door.ask(`${all}?includeObject=None`, accept(tableType))).body.rows[0].object).toBeNull();
    expect((await door.ask(`${inShop}/web?includeObject=Object`, accept(tableType))).body.rows[0].object.kind).toBe(
      'ShadowResource',
    );
    const metadata = (await door.ask(all, accept(metadataType.replace('Metadata', 'MetadataList')))).body;
    expect([metadata.kind, metadata.items[0].kind, metadata.items[0].spec]).toEqual([
      'PartialObjectMetadataList',
      'PartialObjectMetadata',
      undefined,
    ]);
    expect((await door.ask(`${inShop}/web`, accept(metadataType))).body).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
    });
    for (const type of ['application/vnd.kubernetes.protobuf', 'text/html', tableType.replace('v1', 'v9')]) {
      expect((await door.ask(all, accept(type))).status, type).toBe(406);
    }
  });

  test('before the records are synced, lists are 503', async () => {
    const door = await aggregateDoor(authority);
    expect((await door.ask(all)).body).toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('shadowrecords'),
    });
  });
});

describe('rights', () => {
  const seesOnly = (...keys: readonly string[]): Rights => ({
    ...fixedRights(() => ({ id: keys.join(), of: (key) => (keys.includes(key) ? allRows : noRows) })),
    allows: async (_caller, _cluster, asked) =>
      'resource' in asked && asked.verb !== 'watch' && asked.namespace === 'shop',
  });

  test('the kind is authorized with its namespace, and 403 names the user', async () => {
    const door = await shopDoor({ rights: seesOnly() });
    expect((await door.ask(inShop)).status).toBe(200);
    for (const path of [all, `${inShop}?watch=1`]) {
      expect((await door.ask(path)).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: expect.stringContaining('User "jane" cannot'),
      });
    }
  });

  test('a hidden member is a reference, and neither its state nor its health is told', async () => {
    const door = await shopDoor({ rights: seesOnly() });
    const { body } = await door.ask(`${inShop}/web`);
    expect(body.spec.flowList).toEqual(
      [
        ['Pod', 'a'],
        ['Secret', 'keys'],
      ].map(([kind, name]) => ({ apiVersion: 'v1', kind, metadata: { name, namespace: 'shop' } })),
    );
    expect(body.status).toMatchObject({ ready: '0/0', members: [{ state: 'Hidden' }, { state: 'Hidden' }] });
    for (const type of ['MODIFIED', 'DELETED'] as const) {
      const rv = type === 'DELETED' ? 120 : 110;
      door.fixture.apply('pods', type, podAt('a', rv, 'two'));
      await expect.poll(() => door.changes.high).toBe(BigInt(rv));
      // The resourceVersion is that of the record.
      expect((await door.ask(`${inShop}/web`)).body).toEqual(body);
    }
  });

  test('a forged record does not tell whether an object of a name exists', async () => {
    const door = await shopDoor({ rights: seesOnly() });
    door.fixture.apply(records, 'ADDED', storedRecord({ name: 'one', rv: 90, members: ['Secret/keys'] }));
    door.fixture.apply(records, 'ADDED', storedRecord({ name: 'two', rv: 90, members: ['Secret/none'] }));
    const answer = async (name: string) => (await door.ask(`${inShop}/${name}`)).text;
    await expect.poll(() => answer('two')).toContain('Hidden');
    const same = (text: string): string => text.replaceAll(/keys|none/g, 'x').replaceAll(/one|two/g, 'y');
    expect(same(await answer('one'))).toBe(same(await answer('two')));
  });

  test('a member that leaves raises the version by its deletion, and no other one is forgotten', async () => {
    const door = await shopDoor();
    const record = storedRecord({ name: 'web', rv: 110, members: ['Pod/a', 'Secret/keys'] }) as {
      spec: { members: object[] };
    };
    const [pod = {}, secret = {}] = record.spec.members;
    const spec = { ...record.spec, members: [secret, { ...pod, leaves: true }] };
    door.fixture.apply(records, 'MODIFIED', { ...record, spec });
    const now = async () => (await door.ask(`${inShop}/web`)).body;
    await expect.poll(async () => (await now()).status.members[1]?.state).toBe('Leaving');
    door.fixture.apply('pods', 'DELETED', podAt('a', 120));
    await expect.poll(async () => (await now()).status.members.length).toBe(1);
    expect((await now()).metadata.resourceVersion).toBe('120');
  });

  test("the annotation of kubectl on the record itself is none of the set's", async () => {
    const door = await shopDoor();
    const record = storedRecord({ name: 'web', rv: 140 }) as { metadata: object };
    const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': 'the record', note: 'x' };
    door.fixture.apply(records, 'MODIFIED', { ...record, metadata: { ...record.metadata, annotations } });
    await expect.poll(async () => (await door.ask(`${inShop}/web`)).body.metadata.annotations).toEqual({ note: 'x' });
  });

  test('what one caller has made the door compute is not shown to another', async () => {
    const rights: Rights = {
      ...fixedRights(({ user }) => ({
        id: user?.user ?? '',
        of: (key) => (user?.user === 'jane' && key === 'pods' ? allRows : noRows),
      })),
      allows: async () => true,
    };
    const door = await shopDoor({ rights });
    const asJack = { headers: [['X-Remote-User', 'jack']] as const };
    const reference = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a', namespace: 'shop' } };
    for (const note of ['one', 'two', 'three']) {
      if (note !== 'one') door.fixture.apply('pods', 'MODIFIED', podAt('a', 110 + note.length, note, ready));
      await expect
        .poll(async () => (await door.ask(`${inShop}/web`)).body.spec.flowList[0])
        .toEqual({ ...reference, spec: { note } });
      for (const path of [`${inShop}/web`, all]) {
        const { text, body } = await door.ask(path, asJack);
        expect((body.items?.at(-1) ?? body).spec.flowList[0]).toEqual(reference);
        expect(text).not.toContain(note);
      }
    }
  });

  test('kubectl reads the last-applied annotation only with rights to every member', async () => {
    const lastApplied = '{"spec":{"flowList":["Pod a"]}}';
    const annotation = async (rights: Rights): Promise<unknown> => {
      const door = await shopDoor({ rights });
      door.fixture.apply(
        records,
        'MODIFIED',
        storedRecord({ name: 'web', rv: 140, members: ['Pod/a', 'Secret/keys'], spec: { lastApplied } }),
      );
      const { metadata } = (await door.ask(`${inShop}/web`)).body;
      return metadata.annotations?.['kubectl.kubernetes.io/last-applied-configuration'];
    };
    expect(await annotation(seesOnly('pods', 'secrets'))).toBe(lastApplied);
    expect(await annotation(seesOnly('pods'))).toBeUndefined();
  });

  test('a redacted member is read as the caller; another object of its name is not shown', async () => {
    let uid = 'uid-shop-keys';
    const api = await startLoopbackServer((request, response) => {
      const metadata = { name: 'keys', namespace: 'shop', uid, resourceVersion: '160' };
      const isAsked =
        request.headers.authorization === 'Bearer jane' && request.url === '/api/v1/namespaces/shop/secrets/keys';
      sendJson(response, isAsked ? 200 : 403, { apiVersion: 'v1', kind: 'Secret', metadata, data: { a: 'c2VjcmV0' } });
    });
    onTestFinished(() => api.close());
    const folder = kubeconfigFolder();
    onTestFinished(() => folder.remove());
    const connection = await connect({
      env: {},
      name: 'east',
      kubeconfig: folder.write({ server: api.url }, { token: 'jane' }),
    });
    onTestFinished(() => connection.close());
    const callers: string[] = [];
    const door = await shopDoor({
      clientOf: async ({ name }) => {
        callers.push(name);
        return new RestClient(connection) as unknown as CallerClient;
      },
    });
    const { body } = await door.ask(`${inShop}/web`);
    expect(body.spec.flowList[1]).toMatchObject({ kind: 'Secret', data: { a: 'c2VjcmV0' } });
    expect([body.metadata.resourceVersion, callers]).toEqual(['160', ['jane']]);
    uid = 'another';
    expect((await door.ask(`${inShop}/web`)).body.spec.flowList[1].data).toBeUndefined();
  });
});

test('answers that are not read are bounded together by their caller', async () => {
  const bounds = { perCaller: 30_000_000, inAll: 1_000_000_000, stalledMs: 1_000_000, everyMs: 1_000_000 };
  const door = await shopDoor({ unsentBounds: bounds });
  door.fixture.apply('pods', 'MODIFIED', podAt('a', 110, 'x'.repeat(24_000_000), ready));
  await door.ask(all, accept(metadataType));
  await expect.poll(() => door.changes.high, { timeout: 30_000 }).toBe(110n);
  const unread = await Promise.all(
    [1, 2].map(async () => {
      const socket = await rawConnection(door);
      socket.write(`GET ${all} HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: jane\r\n\r\n`);
      await once(socket, 'readable');
      return socket;
    }),
  );
  const read = async (socket: TLSSocket): Promise<number> => {
    let bytes = 0;
    for await (const chunk of socket) {
      bytes += (chunk as Buffer).length;
      if (bytes > 24_000_000) break;
    }
    return bytes;
  };
  const lengths = (await Promise.all(unread.map((each) => read(each).catch(() => 0)))).toSorted((a, b) => a - b);
  expect(lengths[0]).toBeLessThan(24_000_000);
  expect(lengths[1]).toBeGreaterThan(24_000_000);
});

describe('watch', () => {
  test('from a list: one event for each visible change, in each form', async () => {
    const door = await shopDoor();
    const { body } = await door.ask(all);
    const path = `${all}?watch=1&resourceVersion=${body.metadata.resourceVersion}`;
    const [objects, table, metadata] = await Promise.all([
      door.watch(path),
      door.watch(path, tableType),
      door.watch(path, metadataType),
    ]);
    // The other field and the label were not submitted.
    door.fixture.apply('pods', 'MODIFIED', podAt('a', 110, 'one', { ...ready, unseen: 1 }));
    door.fixture.apply('pods', 'MODIFIED', podAt('a', 111, 'two', ready));
    expect(await objects.next()).toMatchObject({
      type: 'MODIFIED',
      object: {
        kind: 'ShadowResource',
        metadata: { name: 'web', resourceVersion: '111' },
        spec: { flowList: [{ spec: { note: 'two' } }, {}] },
      },
    });
    const first = await table.next();
    expect([first.type, first.object.kind, first.object.columnDefinitions.length, first.object.rows.length]).toEqual([
      'MODIFIED',
      'Table',
      6,
      1,
    ]);
    expect((await metadata.next()).object.kind).toBe('PartialObjectMetadata');
    door.fixture.apply(records, 'ADDED', storedRecord({ name: 'new', rv: 112 }));
    expect(await objects.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'new' } } });
    expect((await table.next()).object.columnDefinitions).toBeNull();
    door.fixture.apply(records, 'DELETED', storedRecord({ name: 'new', rv: 113 }));
    expect(await objects.next()).toMatchObject({
      type: 'DELETED',
      object: { metadata: { name: 'new', uid: 'uid-of-new', resourceVersion: '113' } },
    });
    door.fixture.apply(records, 'DELETED', storedRecord({ name: 'api', rv: 114 }));
    door.fixture.apply(records, 'ADDED', storedRecord({ name: 'api', rv: 115, uid: 'second' }));
    expect([await objects.next(), await objects.next()]).toMatchObject([
      { type: 'DELETED', object: { metadata: { uid: 'uid-of-api' } } },
      { type: 'ADDED', object: { metadata: { uid: 'second' } } },
    ]);
  });

  test('WatchList: the present sets, then a bookmark with the annotation, then changes', async () => {
    const door = await shopDoor();
    const path = `${all}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=tier%3Dfront`;
    const watch = await door.watch(path);
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'web' } } });
    expect(await watch.next()).toEqual({
      type: 'BOOKMARK',
      object: {
        kind: 'ShadowResource',
        apiVersion: 'shadow.portolan.dev/v1alpha1',
        metadata: {
          resourceVersion: '104',
          creationTimestamp: null,
          annotations: { 'k8s.io/initial-events-end': 'true' },
        },
        spec: { flowList: [] },
      },
    });
    door.fixture.apply('pods', 'DELETED', podAt('a', 120));
    expect(await watch.next()).toMatchObject({
      type: 'MODIFIED',
      object: { status: { members: [{ state: 'Missing' }, {}] } },
    });
  });

  test('labels take sets in and out of a watch, also those of a list before it', async () => {
    const door = await shopDoor();
    const relabel = (name: string, rv: number, tier: string): void =>
      door.fixture.apply(records, 'MODIFIED', storedRecord({ name, rv, labels: { tier } }));
    const path = `${all}?labelSelector=tier%3Dfront`;
    const version = (await door.ask(path)).body.metadata.resourceVersion;
    relabel('web', 110, 'back');
    relabel('api', 111, 'front');
    await expect.poll(async () => namesOf(await door.ask(path))).toEqual(['api']);
    const watch = await door.watch(`${path}&watch=1&resourceVersion=${version}`);
    expect([await watch.next(), await watch.next()]).toMatchObject([
      { type: 'DELETED', object: { metadata: { name: 'web' } } },
      { type: 'ADDED', object: { metadata: { name: 'api' } } },
    ]);
    relabel('api', 112, 'back');
    expect(await watch.next()).toMatchObject({ type: 'DELETED', object: { metadata: { name: 'api' } } });
    relabel('web', 113, 'front');
    expect(await watch.next()).toMatchObject({ type: 'ADDED', object: { metadata: { name: 'web' } } });
  });

  test('a revision that comes late is not lost to a watch from the list before it', async () => {
    const door = await shopDoor();
    door.fixture.apply(records, 'ADDED', storedRecord({ name: 'early', rv: 200 }));
    await expect.poll(async () => (await door.ask(all)).body.metadata.resourceVersion).toBe('200');
    door.fixture.apply('pods', 'MODIFIED', podAt('a', 150, 'late', ready));
    await expect.poll(async () => (await door.ask(`${inShop}/web`)).body.metadata.resourceVersion).toBe('150');
    const watch = await door.watch(`${all}?watch=1&resourceVersion=200`);
    expect(await watch.next()).toMatchObject({
      type: 'MODIFIED',
      object: { metadata: { name: 'web', resourceVersion: '150' } },
    });
  });

  test('a client that is cut off again and again ends with what a list shows, whatever the order of revisions', async () => {
    const change = fc.record({
      what: fc.constantFrom('record', 'empty record', 'gone record', 'pod', 'gone pod', 'label', 'cut', 'cut', 'read'),
      at: fc.integer({ min: 0, max: 2 }),
      // Kinds are watched apart: a revision may come after a larger one.
      late: fc.integer({ min: 0, max: 9 }),
    });
    const door = await shopDoor();
    let revision = 1000;
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 5, maxLength: 40 }), async (changes) => {
        const { body } = await door.ask(all);
        const seen = new Map<string, object>(
          body.items.map((item: { metadata: { name: string } }) => [item.metadata.name, item]),
        );
        let version: string = body.metadata.resourceVersion;
        let watch = await door.watch(`${all}?watch=1&resourceVersion=${version}`);
        const take = async (): Promise<string> => {
          const { type, object } = await watch.next();
          version = object.metadata.resourceVersion;
          if (type === 'DELETED') seen.delete(object.metadata.name);
          else seen.set(object.metadata.name, object);
          return object.metadata.name;
        };
        /** Takes events until that of a set which is made now. */
        const readAll = async (): Promise<void> => {
          revision += 10;
          const marker = `marker-${revision}`;
          door.fixture.apply(records, 'ADDED', storedRecord({ name: marker, rv: revision }));
          while ((await take()) !== marker);
        };
        for (const { what, at, late } of changes) {
          revision += 10;
          const rv = revision - late * 7;
          const name = `set-${at}`;
          const record = (members: readonly string[], labels = {}) =>
            storedRecord({ name, rv, uid: `${name}-${revision}`, members, labels });
          if (what === 'record') door.fixture.apply(records, 'MODIFIED', record([`Pod/pod-${at}`, 'Pod/pod-0']));
          if (what === 'empty record') door.fixture.apply(records, 'MODIFIED', record([]));
          if (what === 'label') door.fixture.apply(records, 'MODIFIED', record([`Pod/pod-${at}`], { at: String(rv) }));
          if (what === 'gone record') door.fixture.apply(records, 'DELETED', record([]));
          if (what === 'pod') door.fixture.apply('pods', 'MODIFIED', podAt(`pod-${at}`, rv, rv));
          if (what === 'gone pod') door.fixture.apply('pods', 'DELETED', podAt(`pod-${at}`, rv));
          if (what === 'read') await readAll();
          if (what === 'cut') watch = await door.watch(`${all}?watch=1&resourceVersion=${version}`);
        }
        await readAll();
        const shown = (items: Iterable<object>): unknown =>
          [...items]
            .map((item) =>
              JSON.stringify({
                ...item,
                metadata: { ...(item as { metadata: object }).metadata, resourceVersion: '' },
              }),
            )
            .toSorted();
        expect(shown(seen.values())).toEqual(shown((await door.ask(all)).body.items));
      }),
      { numRuns: randomRuns(8, 25) },
    );
  });

  test('changes are kept without what grows with the members, and with few labels', async () => {
    const door = await shopDoor();
    await door.ask(all);
    const first = door.changes.high;
    const change = async (rv: number, labels: Record<string, string>): Promise<void> => {
      door.fixture.apply(records, 'MODIFIED', storedRecord({ name: 'web', rv, members: ['Pod/a'], labels }));
      await expect.poll(() => door.changes.high).toBe(BigInt(rv));
    };
    await change(1000, {});
    const { before = null, after = null } = door.changes.since(first)?.changes[0] ?? {};
    for (const set of [before, after]) {
      expect(Object.keys(set ?? {}).toSorted()).toEqual(['createdAt', 'labels', 'name', 'namespace', 'uid', 'version']);
    }
    for (let rv = 1001; rv < 1012; rv += 1) await change(rv, { [`a${rv}`]: 'x'.repeat(1_000_000) });
    expect(door.changes.since(first)).toBeNull();
    expect(door.changes.since(door.changes.high - 1n)?.changes).toHaveLength(1);
  });

  test('a watch ends with a Status when its caller loses the right to watch', async () => {
    let isAllowed = true;
    const door = await shopDoor({ rights: { ...seesEverything, allows: async () => isAllowed } });
    const watch = await door.watch(`${inShop}?watch=1&resourceVersion=104`);
    isAllowed = false;
    door.fixture.apply('pods', 'MODIFIED', podAt('a', 110, 'two', ready));
    expect(await watch.next()).toMatchObject({ type: 'ERROR', object: { code: 403, reason: 'Forbidden' } });
    await expect(watch.ended).resolves.toBe(true);
  });

  test('a page of a list costs what it reads: the records that it looks at, and the members of its sets', async () => {
    const door = await shopDoor({ bounds: { ...defaultBounds, costPerMinute: 3100 } });
    const costs = async (user: string, path: string): Promise<readonly number[]> => {
      const ask = async () => (await door.ask(path, { headers: [['X-Remote-User', user]] })).status;
      return [await ask(), await ask(), await ask()];
    };
    expect(await costs('jane', `${all}?fieldSelector=metadata.name%3Dnone`)).toEqual([200, 200, 200]);
    expect(await costs('joe', all)).toEqual([200, 200, 429]);
  });

  /** Sets in two namespaces; the hundredth of each hundred has the label rare. */
  async function manySets(costPerMinute: number, options: Parameters<typeof aggregateDoor>[1] = {}) {
    const door = await shopDoor({ bounds: { ...defaultBounds, costPerMinute }, ...options });
    const sets = Array.from({ length: 450 }, (_, index) => {
      const name = `set-${String(index).padStart(3, '0')}`;
      return { name, namespace: index % 3 === 0 ? 'bank' : 'shop', labels: index % 100 === 99 ? { rare: 'yes' } : {} };
    });
    await door.fixture.sync(
      records,
      sets.map((set, index) => storedRecord({ ...set, rv: 1000 + index })),
    );
    return door;
  }

  test('the pages of a list have together what the whole list has, with any limit and selector', async () => {
    const door = await manySets(1e9);
    for (const [path, query, limits] of [
      [all, '', [7, 149, 150, 449, 450, 451]],
      [inShop, '', [100, 299, 300]],
      [all, 'labelSelector=rare', [1, 2, 3, 4, 5]],
      [all, 'labelSelector=!rare', [201, 445, 446]],
      [inShop, 'labelSelector=rare%3Dyes', [1, 2]],
      [all, 'fieldSelector=metadata.namespace%3Dshop', [150, 300]],
      [all, 'labelSelector=none', [1]],
    ] as const) {
      const whole = namesOf(await door.ask(`${path}?${query}`));
      for (const limit of limits) {
        const pages: string[][] = [];
        const before = door.fixture.statements.length;
        let left = 0;
        for (let token = ''; ; ) {
          const { body } = await door.ask(`${path}?${query}&limit=${limit}${token === '' ? '' : `&continue=${token}`}`);
          pages.push([...namesOf({ body })]);
          left = body.metadata.remainingItemCount;
          token = body.metadata.continue ?? '';
          if (token === '') break;
          expect(left, `${query} ${limit}`).toBe(query === '' ? whole.length - pages.flat().length : undefined);
        }
        expect(left).toBeUndefined();
        // The store is asked once for their number, not for each page.
        const counts = door.fixture.statements.slice(before).filter(({ sql }) => sql.includes('object_count'));
        expect(counts, `${query} ${limit}`).toHaveLength(query === '' && pages.length > 1 ? 1 : 0);
        expect(pages.flat(), `${query} ${limit}`).toEqual(whole);
        expect(pages.map((page) => page.length > limit)).not.toContain(true);
        // The last page is empty only if the list is.
        expect(pages, `${query} ${limit}`).toHaveLength(Math.max(1, Math.ceil(whole.length / limit)));
      }
    }
  });

  test('a page costs the records that it reads: those of the page, and not all', async () => {
    const door = await manySets(6000);
    const status = async (user: string, query: string): Promise<number> =>
      (await door.ask(`${all}?${query}`, { headers: [['X-Remote-User', user]] })).status;
    for (let asked = 0; asked < 5; asked += 1) expect(await status('jane', 'limit=1')).toBe(200);
    expect([await status('joe', ''), await status('joe', '')]).toEqual([200, 429]);
  });

  test('first pages of one set each read no more records than they show, and their number is right after changes', async () => {
    const door = await manySets(1e9);
    const { fixture } = door;
    const remaining = async (path: string): Promise<number> =>
      (await door.ask(`${path}?limit=1`)).body.metadata.remainingItemCount;
    for (const namespace of ['shop', 'bank', 'none']) {
      const before = fixture.statements.length;
      const expected = { shop: 299, bank: 149, none: undefined }[namespace];
      expect(await remaining(all.replace('shadowresources', `namespaces/${namespace}/shadowresources`))).toBe(expected);
      const scans = fixture.statements.slice(before).filter(({ sql }) => /FROM object AS o\b/.test(sql));
      expect(scans.length, namespace).toBeGreaterThan(0);
      expect(scans.map(({ sql }) => sql.includes('LIMIT'))).not.toContain(false);
    }
    fixture.apply(records, 'DELETED', storedRecord({ name: 'set-448', namespace: 'shop', rv: 2000 }));
    fixture.apply(records, 'ADDED', storedRecord({ name: 'new', namespace: 'bank', rv: 2001 }));
    fixture.apply(records, 'ADDED', storedRecord({ name: 'newer', namespace: 'bank', rv: 2002 }));
    expect([await remaining(inShop), await remaining(all)]).toEqual([298, 450]);
  });

  test('a deletion of many sets costs what the list of them costs', async () => {
    const removed: string[] = [];
    const door = await manySets(9000, {
      remove: async (_operate, { name }) => {
        removed.push(name);
        return { uid: '', left: null, warnings: [] };
      },
    });
    const status = async (query: string): Promise<number> =>
      (await door.ask(`${inShop}?${query}`, { method: 'DELETE' })).status;
    expect(await status('limit=1')).toBe(200);
    expect(removed).toHaveLength(1);
    // Each looks at all records of the namespace and selects none.
    expect([
      await status('labelSelector=none'),
      await status('labelSelector=none'),
      await status('labelSelector=none'),
    ]).toEqual([200, 200, 429]);
  });

  test('a deletion of more sets than the bound of a minute allows goes on in the next minute', async () => {
    const removed = new Set<string>();
    // The list of the 300 sets costs more than the bound by itself.
    const door = await manySets(3000, {
      remove: async (operate, { name }) => {
        await operate('mutation', async () => removed.add(name));
        return { uid: '', left: null, warnings: [] };
      },
    });
    const { status } = await door.ask(inShop, { method: 'DELETE' });
    expect(status).toBe(429);
    expect(removed.size).toBe(10);
    await door.clock.advance(60_000);
    // The list begins with the same sets, as the store still has them. So this one tells the minutes apart.
    expect((await door.ask(`${inShop}?fieldSelector=metadata.name%3Dset-400`, { method: 'DELETE' })).status).toBe(200);
    expect(removed).toContain('set-400');
  });

  test('a watch ends after its time, and at the end of the door', async () => {
    const door = await shopDoor();
    await expect((await door.watch(`${all}?watch=1&timeoutSeconds=1`)).ended).resolves.toBe(true);
    const watch = await door.watch(`${inShop}?watch=1&fieldSelector=metadata.name%3Dweb`);
    expect((await watch.next()).type).toBe('ADDED');
    await door.close();
    await expect(watch.ended).resolves.toBe(true);
  });

  test('a watch ends within a drain, also one that comes late', async () => {
    const door = await shopDoor();
    const watch = await door.watch(`${all}?watch=1`);
    door.drain(200);
    await expect(watch.ended).resolves.toBe(true);
    await expect((await door.watch(`${all}?watch=1`)).ended).resolves.toBe(true);
    expect((await door.ask(all)).status).toBe(200);
  });
});

describe('members of a kind that is not read', () => {
  const waiting = (name: string, rv: number) => storedRecord({ name, rv, members: ['Gadget/g'] });

  test('cost nothing at the commits of other kinds', async () => {
    const door = await shopDoor();
    const { fixture, changes } = door;
    /** The characters of the statements that one commit of a Pod without a set leads to. */
    const costOf = async (rv: number): Promise<number> => {
      await changes.load();
      const before = fixture.statements.length;
      fixture.apply('pods', 'ADDED', podAt(`other-${rv}`, rv));
      await expect.poll(() => fixture.statements.length).toBeGreaterThan(before);
      await door.ask(`${inShop}/web`);
      return JSON.stringify(fixture.statements.slice(before)).length;
    };
    fixture.apply(records, 'ADDED', waiting('waiting-0', 200));
    await costOf(201);
    const few = await costOf(202);
    for (let index = 1; index < 60; index += 1)
      fixture.apply(records, 'ADDED', waiting(`waiting-${index}`, 300 + index));
    await costOf(401);
    expect(await costOf(402)).toBeLessThan(few + 100);
  });

  test('are shown as soon as the kind is read', async () => {
    const door = await shopDoor();
    const { fixture } = door;
    fixture.apply(records, 'ADDED', waiting('waiting', 200));
    const stateOf = async () => (await door.ask(`${inShop}/waiting`)).body.status.members[0].state;
    await expect.poll(stateOf).toBe('Unknown');
    const watch = await door.watch(`${inShop}?watch=true&resourceVersion=200`);
    await fixture.declare(
      servedResource({ plural: 'shadowrecords', kind: 'ShadowRecord', group: 'portolan.dev', version: 'v1alpha1' }),
      servedResource({}),
      servedResource({ plural: 'secrets', kind: 'Secret', redacted: ['data'] }),
      servedResource({ plural: 'gadgets', kind: 'Gadget' }),
    );
    await fixture.sync('gadgets', []);
    expect(await watch.next()).toMatchObject({
      type: 'MODIFIED',
      object: { status: { members: [{ state: 'Missing' }] } },
    });
  });
});
