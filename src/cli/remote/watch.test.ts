/** `watch` at real gateways over WebSocket: what it prints, how it comes back, and how it ends. */
import { once } from 'node:events';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { type SimCluster, startSimCluster } from '../../../sim/sim-cluster.ts';
import { startCutProxy } from '../../../test/kit/cut-proxy.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { type RunningGateway, runGateway } from '../../../test/kit/gateway.ts';
import { data } from '../../../test/kit/graphql-client.ts';
import { kubeconfigFolder } from '../../../test/kit/kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from '../../../test/kit/loopback-server.ts';
import { type WatchFlags, watch } from './watch.ts';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

interface World {
  readonly cluster: SimCluster;
  gateway: RunningGateway;
  /** Starts a gateway with these flags; a port of 0 is any. */
  start(flags?: Readonly<Record<string, unknown>>): Promise<RunningGateway>;
}

const configMap = (name: string, value = '', namespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { value },
});
const at = (name: string): string => `/api/v1/namespaces/default/configmaps/${name}`;

async function startWorld({ users, ...flags }: { users?: readonly object[]; [flag: string]: unknown } = {}) {
  const folder = kubeconfigFolder();
  undo.push(() => folder.remove());
  const features = users === undefined ? {} : { features: { users } };
  const cluster = await startSimCluster({ objects: 'empty', ...features } as Parameters<typeof startSimCluster>[0]);
  undo.push(() => cluster.close());
  for (let index = 0; index < 20; index += 1) cluster.create(configMap(`map-${index}`, 'first'));
  const kubeconfig = folder.file('config', cluster.kubeconfig());
  const start = (more: object = {}): Promise<RunningGateway> => {
    const all = { kinds: ['configmaps'], data: join(folder.dir, 'store.db'), ...flags, ...more };
    return runGateway({ name: 'east', kubeconfig }, all);
  };
  const world: World = { cluster, gateway: await start(), start };
  undo.push(() => world.gateway.close());
  return world;
}

interface Message {
  readonly phase: string;
  readonly reset: boolean;
  readonly cursor: string;
  readonly totalCount: number | null;
  readonly changes: readonly { readonly type: string; readonly id: string; readonly object: ConfigMap | null }[];
}

type ConfigMap = { readonly id: string; readonly metadata: { readonly name: string }; readonly data: unknown };

/** A running watch, with its lines. */
class Running {
  readonly lines: string[] = [];
  errors = '';
  readonly ended: Promise<number>;
  readonly #stop = new AbortController();
  /** Blocks the output while true. */
  isSlow = false;
  readonly output: Writable;
  #waiting: (() => void) | null = null;

  constructor(remote: { readonly url: string; readonly token?: string }, flags: WatchFlags) {
    this.output = new Writable({
      highWaterMark: 1,
      decodeStrings: false,
      write: (line: string, _encoding, done) => {
        this.lines.push(line);
        if (this.isSlow) this.#waiting = done;
        else done();
      },
    });
    const errors = { write: (text: string) => (this.errors += text) };
    this.ended = watch({ token: undefined, ...remote }, flags, this.#stop.signal, {
      input: Readable.from([]),
      output: this.output,
      errors,
    });
    this.ended.catch(() => {});
    undo.push(() => this.stop().catch(() => {}));
  }

  get messages(): readonly Message[] {
    return this.lines.map((line) => JSON.parse(line));
  }

  get phases(): readonly string[] {
    return this.messages.map(({ phase }) => phase);
  }

  /** The objects that a reader of all lines holds; null while they are not complete. Throws for a lost or doubled change. */
  get held(): ReadonlyMap<string, ConfigMap> | null {
    const held = new Map<string, ConfigMap>();
    let isComplete = false;
    for (const { phase, reset, changes } of this.messages) {
      if (reset) held.clear();
      for (const { type, id, object } of changes) {
        if (held.has(id) !== (type !== 'ADDED')) throw new Error(`${type} of ${id}, in ${phase}`);
        if (object === null) held.delete(id);
        else held.set(id, object);
      }
      isComplete = phase === 'SYNCED' || phase === 'LIVE';
    }
    return isComplete ? held : null;
  }

  read(): void {
    this.isSlow = false;
    this.#waiting?.();
    this.#waiting = null;
  }

  async stop(): Promise<number> {
    this.#stop.abort();
    return this.ended;
  }
}

const selection = '{ phase reset cursor totalCount changes { type id object { id metadata { name } data } } }';
const whole = `configMapChanges ${selection}`;

/** Waits until the fold of the lines is what the list says. */
async function foldsToTable(running: Running, url: string): Promise<void> {
  await eventually(async () => {
    const { configMaps } = await data<{ configMaps: { nodes: ConfigMap[] } }>(
      url,
      '{ configMaps(first: 500) { nodes { id metadata { name } data } } }',
    );
    expect(running.held).toEqual(new Map(configMaps.nodes.map((node) => [node.id, node])));
  });
}

describe('lines', () => {
  test('one JSON line for each message: the snapshot, then the changes; exit code 0 when it is stopped', async () => {
    const { cluster, gateway } = await startWorld();
    const running = new Running({ url: gateway.url }, { document: `subscription { ${whole} }` });
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    expect(running.messages[1]?.totalCount).toBe(20);
    cluster.create(configMap('new', 'x'));
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED', 'LIVE']));
    expect(running.lines.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
    await foldsToTable(running, gateway.url);
    expect(await running.stop()).toBe(0);
    expect(running.errors).toBe('');
  });

  test.each([
    ['a resource', 'configmaps'],
    ['its short name', 'cm'],
    ['a kind', 'ConfigMap'],
    ['a root', 'configMapChanges'],
    ['a root with arguments', 'configMapChanges(filter: { namespaces: ["default"] })'],
    ['a resource with arguments and a selection', 'cm(filter: {}) { phase changes { object { kind } } }'],
  ])('the short form may be %s', async (_what, document) => {
    const { gateway } = await startWorld();
    const running = new Running({ url: gateway.url }, { document });
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    expect(running.messages[0]?.changes).toHaveLength(20);
    expect(running.messages[0]?.changes[0]?.object).toMatchObject({ kind: 'ConfigMap' });
    expect(running.messages[1]).toMatchObject({ cursor: expect.any(String) });
  });

  test('several kinds, and roots without a cursor', async () => {
    const { gateway } = await startWorld();
    const several = new Running({ url: gateway.url }, { document: 'objectChanges(kinds: ["ConfigMap"])' });
    await eventually(() => expect(several.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    const resources = new Running({ url: gateway.url }, { document: 'resourceChanges' });
    await eventually(() => expect(resources.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    expect(resources.lines[0]).toContain('"key":"configmaps"');
    const since = new Running({ url: gateway.url }, { document: 'resourceChanges', since: 'x' });
    await expect(since.ended).rejects.toThrow('--since needs a root with a cursor');
    const from = 'logs(from: { query: { kinds: ["ConfigMap"] } })';
    const bare = new Running({ url: gateway.url }, { document: from });
    await expect(bare.ended).rejects.toThrow('Say which fields of logs are wanted: write { … } after its arguments.');
    const logs = new Running({ url: gateway.url }, { document: `${from} { notices { type } }` });
    await eventually(() => expect(logs.lines[0]).toContain('"NOTHING"'));
  });

  test('takes variables and the name of the operation', async () => {
    const { gateway } = await startWorld();
    const document = `
      subscription A($names: [String!]) { configMapChanges(filter: { metadata: { name: { in: $names } } }) ${selection} }
      subscription B { ${whole} }`;
    const flags = { document, operation: 'A', variables: '{"names": ["map-1", "map-2"]}' };
    const running = new Running({ url: gateway.url }, flags);
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    expect([...(running.held ?? new Map()).values()].map(({ metadata }) => metadata.name).sort()).toEqual([
      'map-1',
      'map-2',
    ]);
  });

  test('--changes-only begins without a snapshot', async () => {
    const { cluster, gateway } = await startWorld();
    const document = 'configMapChanges(snapshot: true) { phase changes { type object { metadata { name } } } }';
    const running = new Running({ url: gateway.url }, { document, changesOnly: true });
    await eventually(() => expect(running.phases).toEqual(['SYNCED']));
    cluster.delete(at('map-3'));
    await eventually(() => expect(running.phases).toEqual(['SYNCED', 'LIVE']));
    expect(running.messages[1]?.changes).toMatchObject([{ type: 'REMOVED' }]);
  });

  test('--since begins at the cursor of an earlier line, also in place of the document’s own', async () => {
    const { cluster, gateway } = await startWorld();
    const first = new Running({ url: gateway.url }, { document: whole });
    await eventually(() => expect(first.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    const since = first.messages[1]?.cursor ?? '';
    await first.stop();
    cluster.create(configMap('meanwhile'));
    for (const document of [whole, `configMapChanges(since: "x") ${selection}`]) {
      const second = new Running({ url: gateway.url }, { document, since });
      await eventually(() => expect(second.phases).toEqual(['SYNCED', 'LIVE']));
      expect(second.messages[1]?.changes).toMatchObject([{ type: 'ADDED' }]);
    }
  });
});

/** Starts the gateway again, on the same port. */
async function restart(world: World, flags: object = {}): Promise<void> {
  const port = new URL(world.gateway.url).port;
  await world.gateway.close();
  world.gateway = await world.start({ port, ...flags });
}

describe('a lost connection', () => {
  test.each([
    ['a variable of its own', `subscription ($from: String) { configMapChanges(since: $from) ${selection} }`],
    [
      'the added variable',
      `subscription ($since: Int) { ${whole.replace('totalCount', 'totalCount @skip(if: false)')} }`,
    ],
    ['a fragment', `subscription { ...Root } fragment Root on Subscription { ${whole} }`],
  ])('goes on at the last cursor, in %s; a restart loses and doubles nothing', async (_what, given) => {
    const world = await startWorld();
    const document = given.replace('($since: Int)', '');
    const running = new Running({ url: world.gateway.url }, { document });
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    for (let round = 0; round < 2; round += 1) {
      const restarting = restart(world);
      for (let index = 0; index < 30; index += 1) {
        world.cluster.create(configMap(`round-${round}-${index}`));
        world.cluster.update(configMap(`map-${index % 10}`, `${round} ${index}`));
        if (index % 3 === 0) world.cluster.delete(at(`round-${round}-${index}`));
        await sleep(5);
      }
      await restarting;
      await foldsToTable(running, world.gateway.url);
    }
    const phases = new Set(running.phases.slice(2));
    expect([...phases].sort()).toEqual(['LIVE', 'SYNCED']);
    expect(running.errors).toMatch(
      /portolan: The connection was lost \(1001 Going away\); subscribing again from the last cursor in \d/,
    );
    expect(running.errors).toContain('portolan: Connected again.\n');
  });

  test('several kinds go on at one cursor', async () => {
    const world = await startWorld({ kinds: ['configmaps', 'secrets'] });
    const document =
      'objectChanges(kinds: ["ConfigMap", "Secret"]) { phase reset changes { type id object { id kind } } }';
    const running = new Running({ url: world.gateway.url }, { document });
    await eventually(() => expect(running.phases.slice(0, 2)).toEqual(['SNAPSHOT', 'SYNCED']));
    const restarting = restart(world);
    world.cluster.create(configMap('new'));
    world.cluster.create({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'new', namespace: 'default' } });
    world.cluster.delete(at('map-3'));
    await restarting;
    await eventually(() => expect(running.held?.size).toBe(21));
    expect(running.phases).not.toContain('GAP');
    expect([...(running.held ?? new Map()).values()].filter(({ kind }) => kind === 'Secret')).toHaveLength(1);
  });

  test('a root without a cursor begins again with a snapshot', async () => {
    const world = await startWorld();
    const running = new Running({ url: world.gateway.url }, { document: 'resourceChanges' });
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    await restart(world);
    await eventually(() => expect(running.phases.slice(-2)).toEqual(['SNAPSHOT', 'SYNCED']));
    await eventually(() => expect(running.errors).toContain('from the beginning'));
  });

  test('a gateway without the old store: GAP, and a new snapshot', async () => {
    const world = await startWorld();
    const running = new Running({ url: world.gateway.url }, { document: whole });
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
    await restart(world, { data: join(kubeconfigFolderOf(), 'other.db') });
    world.cluster.delete(at('map-3'));
    await eventually(() => expect(running.phases.slice(2, 4)).toEqual(['GAP', 'SNAPSHOT']));
    await foldsToTable(running, world.gateway.url);
  });

  test('connections that are cut at any moment, while everything changes', async () => {
    const world = await startWorld();
    const proxy = await startCutProxy(Number(new URL(world.gateway.url).port));
    undo.push(() => proxy.close());
    const url = proxy.url.replace('https', 'http');
    const running = new Running({ url }, { document: whole });
    // Before its first message, a lost connection ends the command.
    await eventually(() => expect(running.phases).toContain('SYNCED'));
    let cuts = 0;
    const again = (): number => running.errors.match(/Connected again/g)?.length ?? 0;
    // On a busy machine a connection may be cut before it is open again.
    for (let index = 0; index < 200 || (index < 2000 && again() < 2); index += 1) {
      world.cluster.update(configMap(`map-${index % 20}`, `${index}`));
      if (index % 40 === 20) {
        proxy.cut();
        await sleep(50);
        proxy.mend();
        cuts += 1;
      }
      await sleep(10);
    }
    await foldsToTable(running, world.gateway.url);
    expect(again()).toBeGreaterThan(1);
    expect(cuts).toBeGreaterThan(4);
  });
});

test('a slow reader slows the reads: the messages wait in the gateway, and come as one change for each object', async () => {
  const { cluster, gateway } = await startWorld();
  const running = new Running({ url: gateway.url }, { document: whole });
  await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
  running.isSlow = true;
  const body = 'x'.repeat(200_000);
  const changes = 300;
  for (let index = 0; index < changes; index += 1) {
    cluster.update(configMap(`map-${index % 20}`, `${index} ${body}`));
    await sleep(4);
  }
  await sleep(500);
  const before = running.lines.length;
  const waiting = running.output.writableLength;
  running.read();
  await foldsToTable(running, gateway.url);
  // 300 changes of 200 kB are 60 MB. The buffers of the sockets hold some of them.
  const sent = running.messages.slice(before).reduce((sum, { changes: of }) => sum + of.length, 0);
  expect(waiting).toBeLessThan(5_000_000);
  expect(sent).toBeLessThan(changes / 2);
  expect(running.errors).toBe('');
});

describe('the end', () => {
  test.each([
    ['an unknown field', 'subscription { configMapChanges { nothing } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown root', 'subscription { nothingChanges { phase } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['text that does not parse', 'subscription { configMapChanges {', 'GRAPHQL_PARSE_FAILED'],
    ['arguments that do not parse', 'configMapChanges(', 'GRAPHQL_PARSE_FAILED'],
    ['a cursor that is none', 'configMapChanges(since: "x") { phase }', 'BAD_USER_INPUT'],
  ])('%s is exit code 1 with the coded error', async (_what, document, code) => {
    const { gateway } = await startWorld();
    const running = new Running({ url: gateway.url }, { document });
    expect(await running.ended).toBe(1);
    expect(running.lines).toEqual([]);
    expect(running.errors).toMatch(new RegExp(`^portolan: ${code}[^\n]*: [^\n]+\n$`));
  });

  test.each([
    [{ document: '{ configMaps { totalCount } }' }, 'send it with portolan query'],
    [{ document: 'subscription A { a } subscription B { b }' }, 'with --operation'],
    [{ document: 'nothings' }, 'no subscription nothings'],
    [{ document: whole, variables: '[]' }, '--variables must be a JSON object'],
  ])('%j is refused', async (flags, message) => {
    const { gateway } = await startWorld();
    await expect(new Running({ url: gateway.url }, flags).ended).rejects.toMatchObject({
      code: 'CONFIGURATION',
      message: expect.stringContaining(message),
    });
  });

  test('a token that the gateway refuses, at the start and later', async () => {
    const user = { token: 'token-of-admin', user: 'admin', groups: ['system:masters'] };
    const users = [user];
    const { gateway } = await startWorld({ users, auth: ['token'], data: undefined });
    const refused = { code: 'UNAUTHENTICATED', message: expect.stringContaining('needs a valid token') };
    await expect(new Running({ url: gateway.url, token: 'wrong' }, { document: 'cm' }).ended).rejects.toMatchObject(
      refused,
    );
    const running = new Running({ url: gateway.url, token: 'token-of-admin' }, { document: 'cm' });
    await eventually(() => expect(running.phases).toEqual(['SNAPSHOT', 'SYNCED']));
  });

  test('a WebSocket that is closed with 4403 ends it', async () => {
    const server = await startGatewayOf((socket) => socket.close(4403, 'Forbidden'));
    await expect(new Running({ url: server }, { document: 'subscription { a }' }).ended).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('4403 Forbidden'),
    });
  });

  test('a server that refuses the upgrade', async () => {
    const server = await startLoopbackServer((_request, response) =>
      sendJson(response, 200, { data: { __type: null } }),
    );
    undo.push(() => server.close());
    await expect(new Running({ url: server.url }, { document: 'subscription { a }' }).ended).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: expect.stringContaining('cannot be opened'),
    });
  });

  test('no gateway at all', async () => {
    await expect(new Running({ url: 'http://127.0.0.1:9' }, { document: 'cm' }).ended).rejects.toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });
});

test('numbers keep their digits', async () => {
  const url = await startGatewayOf((socket) => {
    socket.on('message', (text: Buffer) => {
      const { type, id } = JSON.parse(String(text)) as { type: string; id?: string };
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (type === 'subscribe')
        socket.send(`{"type":"next","id":"${id}","payload":{"data":{"a":{"n":9007199254740993,"m":1.50}}}}`);
    });
  });
  const running = new Running({ url }, { document: 'subscription { a }' });
  await eventually(() => expect(running.lines).toEqual(['{"n":9007199254740993,"m":1.50}\n']));
});

/** A server that answers introspection like a gateway without roots, and treats WebSockets in its own way. */
async function startGatewayOf(treat: (socket: import('ws').WebSocket) => void): Promise<string> {
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => sendJson(response, 200, { data: { __type: null } }));
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', treat);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

/** A folder of its own, removed after the test. */
function kubeconfigFolderOf(): string {
  const folder = kubeconfigFolder();
  undo.push(() => folder.remove());
  return folder.dir;
}
