/** The aggregated API server over a store in a file, with a loopback API server that names the authority of its aggregator. */
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Registry } from 'prom-client';
import { onTestFinished } from 'vitest';
import type { Caller } from '../../src/access/caller.ts';
import type { Rights } from '../../src/access/rights.ts';
import { seesEverything } from '../../src/access/rights.ts';
import { Admission } from '../../src/admission/admission.ts';
import type { CallerBounds } from '../../src/admission/caller-limits.ts';
import { startAggregateServer } from '../../src/aggregate/aggregate-server.ts';
import { SetRequests } from '../../src/aggregate/set-requests.ts';
import type { SetPlace } from '../../src/aggregate/sets/member-states.ts';
import { SetCache } from '../../src/aggregate/sets/set-cache.ts';
import { SetChanges } from '../../src/aggregate/sets/set-changes.ts';
import { SetReads } from '../../src/aggregate/sets/set-reads.ts';
import { doorTls } from '../../src/aggregate/trust/door-tls.ts';
import { ExtensionAuthentication } from '../../src/aggregate/trust/extension-authentication.ts';
import { WriteRequests } from '../../src/aggregate/write-requests.ts';
import type { SetWrites } from '../../src/aggregate/writes/set-writes.ts';
import { systemClock } from '../../src/base/clock.ts';
import { parsedJson } from '../../src/base/json.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import type { ServedKinds } from '../../src/operation/served-kinds.ts';
import { Drain } from '../../src/server/connections/drain.ts';
import type { UnsentBounds } from '../../src/server/connections/unsent-answers.ts';
import { SetMetrics } from '../../src/server/health/set-metrics.ts';
import { TlsFiles } from '../../src/server/negotiation/tls-files.ts';
import type { CallerClient } from '../../src/upstream/caller-clients.ts';
import type { Certificate, CertificateAuthority } from './certificates.ts';
import { type EngineFixture, engineFixture } from './engine-fixture.ts';
import { kubeconfigFolder } from './kubeconfig-file.ts';
import { sendJson, startLoopbackServer } from './loopback-server.ts';
import { ManualClock } from './manual-clock.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const doorApi = { group: 'shadow.portolan.dev', version: 'v1alpha1' };

/** The data of the ConfigMap as kube-apiserver writes it, for a proxy called `front`. */
export function trustData(ca: string): Record<string, string> {
  return {
    'requestheader-client-ca-file': ca,
    'requestheader-allowed-names': '["front"]',
    'requestheader-username-headers': '["X-Remote-User"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
  };
}

export interface DoorAnswer {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the shape of a body is the path's, which the test has beside it.
  readonly body: any;
}

export interface DoorRequest {
  readonly method?: string;
  readonly certificate?: Certificate | null;
  /** Pairs of names and values, as they are sent. */
  readonly headers?: readonly (readonly [name: string, value: string])[] | undefined;
  readonly body?: string;
}

export interface DoorWatch {
  /** The next event, in the order of their arrival. Rejects when the watch ends first. */
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an object is the path's, which the test has beside it.
  next(): Promise<{ readonly type: string; readonly object: any }>;
  /** Resolves when the answer has ended; false if it was cut off. */
  readonly ended: Promise<boolean>;
  /** Stops and resumes reading. */
  pause(): void;
  resume(): void;
}

export interface AggregateDoorFixture {
  readonly port: number;
  readonly authority: CertificateAuthority;
  /** The certificate of the aggregator. */
  readonly front: Certificate;
  readonly fixture: EngineFixture;
  readonly changes: SetChanges;
  /** Moves the time of the watchdog, of looks at the ConfigMap and of the limits of callers. */
  readonly clock: ManualClock;
  /** The callers that the door has admitted. */
  readonly callers: readonly Caller[];
  /** The data of the ConfigMap; null: it is not there. */
  configMap: Readonly<Record<string, string>> | null;
  /** Why the door is ill; null if it is not. */
  illness: string | null;
  ask(path: string, request?: DoorRequest): Promise<DoorAnswer>;
  /** Its metrics, as a scrape has them. */
  metrics(): Promise<string>;
  /** Begins a watch; it ends with the test. Rejects for an answer that is no watch. */
  watch(path: string, accept?: string): Promise<DoorWatch>;
  /** Begins the drain: the clock of the fixture does not end it. */
  drain(ms: number): void;
  close(): Promise<void>;
}

/** The user that requests of a test are from. */
export const asJane = [['X-Remote-User', 'jane']] as const;

interface DoorOptions {
  readonly log?: Logger;
  /** Of the callers. What they do not know is allowed for the kind of sets. Default: everybody sees everything. */
  readonly rights?: Rights;
  /** A client that acts as a caller. Default: there is none. */
  readonly clientOf?: (caller: Caller) => Promise<CallerClient>;
  readonly unsentBounds?: UnsentBounds;
  /** What one caller may have. */
  readonly bounds?: CallerBounds;
  /** Deletes a set. Default: the door is read-only. No other write is answered. */
  readonly remove?: SetWrites['remove'];
  /** Of kept-changes.ts. Default: 0, so that a watch gets nothing twice. */
  readonly overlapMs?: number;
}

const noClient = async (): Promise<never> => {
  throw new Error('callers have no client here');
};

/** Runs until the test ends. @param authority signs all certificates of the test */
export async function aggregateDoor(
  authority: CertificateAuthority,
  {
    log = silentLogger,
    rights = seesEverything,
    clientOf = noClient,
    unsentBounds,
    bounds,
    remove,
    overlapMs = 0,
  }: DoorOptions = {},
): Promise<AggregateDoorFixture> {
  const clock = new ManualClock();
  const state = {
    configMap: trustData(authority.ca) as Readonly<Record<string, string>> | null,
    illness: null as string | null,
  };
  const api = await startLoopbackServer((_asked, response) => {
    if (state.configMap === null)
      sendJson(response, 404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'gone' });
    else sendJson(response, 200, { kind: 'ConfigMap', data: state.configMap });
  });
  onTestFinished(() => api.close());
  const folder = kubeconfigFolder();
  onTestFinished(() => folder.remove());
  const connection = await connect({
    env: {},
    name: 'east',
    kubeconfig: folder.write({ server: api.url }, { token: 'gateway' }),
  });
  onTestFinished(() => connection.close());
  const trust = await ExtensionAuthentication.open({ client: new RestClient(connection), clock, log });
  onTestFinished(() => trust.close());
  const dir = temporaryDirectory('door');
  const own = await authority.issue({ names: ['DNS:localhost', 'IP:127.0.0.1'], commonName: 'door' });
  writeFileSync(join(dir, 'tls.crt'), own.cert);
  writeFileSync(join(dir, 'tls.key'), own.key);
  const files = await TlsFiles.open({ cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') }, log);
  onTestFinished(() => files.close());
  const front = await authority.issue({ names: [], commonName: 'front' });
  // The limits of a caller begin anew with each minute of this clock.
  const monotonic = (): number => clock.monotonic();
  const fixture = engineFixture({ engine: { rights, clock: { ...systemClock, monotonic } } });
  await fixture.engine.refreshCatalog();
  const callers: Caller[] = [];
  const authenticate: typeof trust.authenticate = (credentials, span) => {
    const caller = trust.authenticate(credentials, span);
    callers.push(caller as Caller);
    return caller;
  };
  const { source } = fixture.engine;
  const admission = new Admission<ServedKinds>(source, authenticate, null, bounds);
  const cache = new SetCache();
  const place = (): SetPlace => ({ kinds: source.generation(), cluster: 'east', cache });
  const changes = new SetChanges({ reader: source.reader, api: doorApi, place, clock, log, overlapMs });
  onTestFinished(() => changes.close());
  fixture.writer().onCommit((commit) => changes.wake(commit));
  const drain = new Drain(clock, () => 0.5);
  const metrics = new SetMetrics(systemClock);
  const registry = new Registry();
  metrics.register(registry);
  const parts = {
    ...{ api: doorApi, admission, cluster: 'east', random: () => 0 },
    rights: {
      allows: async (...[caller, cluster, asked]: Parameters<Rights['allows']>) =>
        (await rights.allows(caller, cluster, asked)) ?? true,
    },
    reads: new SetReads({ api: doorApi, place, changes, clientOf, membersRead: (count) => metrics.membersRead(count) }),
  };
  const sets = new SetRequests({
    ...parts,
    changes,
    clock: { ...systemClock, now: () => clock.now() },
    writes:
      remove === undefined
        ? null
        : new WriteRequests({
            ...parts,
            writes: { remove } as SetWrites,
            longManifests: { read: async () => [] } as never,
          }),
    drain,
    watchOpened: () => metrics.watchOpened(),
  });
  const server = await startAggregateServer({
    host: '127.0.0.1',
    port: 0,
    tls: doorTls(files, trust),
    api: doorApi,
    version: '1.2.3',
    admission,
    sets,
    requested: (verb) => metrics.requested(verb),
    drain,
    ...(unsentBounds === undefined ? {} : { unsentBounds }),
    watchdog: {
      get illness() {
        return state.illness;
      },
    },
    log,
  });
  onTestFinished(() => server.close());
  return Object.assign(state, {
    port: server.port,
    authority,
    front,
    fixture,
    changes,
    clock,
    callers,
    metrics: () => registry.metrics(),
    watch: (path: string, accept = 'application/json') =>
      new Promise<DoorWatch>((resolve, reject) => {
        const sent = request(
          {
            ...{ host: '127.0.0.1', port: server.port, path, ca: authority.ca, agent: false },
            headers: ['Host', 'localhost', 'Accept', accept, ...asJane.flat()] as never,
            ...{ cert: front.cert, key: front.key },
          },
          (response) => {
            if (response.statusCode !== 200)
              return reject(new Error(`the watch was answered with ${response.statusCode}`));
            const lines = createInterface({ input: response, crlfDelay: Number.POSITIVE_INFINITY })[
              Symbol.asyncIterator
            ]();
            const ended = Promise.withResolvers<boolean>();
            response.on('end', () => ended.resolve(true));
            response.on('close', () => ended.resolve(response.complete));
            response.on('error', () => ended.resolve(false));
            resolve({
              async next() {
                const { value, done } = await lines.next();
                if (done === true) throw new Error('the watch has ended');
                return JSON.parse(value);
              },
              ended: ended.promise,
              pause: () => void response.pause(),
              resume: () => void response.resume(),
            });
          },
        );
        onTestFinished(() => void sent.destroy());
        sent.on('error', reject);
        sent.end();
      }),
    drain: (ms: number) => void server.drain(ms, AbortSignal.timeout(60_000)),
    close: () => server.close(),
    ask: (path: string, { method = 'GET', certificate = front, headers = asJane, body }: DoorRequest = {}) =>
      new Promise<DoorAnswer>((resolve, reject) => {
        const sent = request(
          {
            host: '127.0.0.1',
            port: server.port,
            path,
            method,
            ca: authority.ca,
            agent: false,
            headers: [
              ...['Host', 'localhost', 'Content-Length', String(body?.length ?? 0)],
              ...headers.flat(),
            ] as never,
            ...(certificate === null ? {} : { cert: certificate.cert, key: certificate.key }),
          },
          (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () => {
              const text = Buffer.concat(chunks).toString('utf8');
              const type = String(response.headers['content-type'] ?? '');
              const isJson = type.startsWith('application/json');
              resolve({
                status: response.statusCode ?? 0,
                type,
                headers: response.headers,
                text,
                // A watch has a line for each event.
                body: isJson ? (parsedJson(text) ?? null) : null,
              });
            });
          },
        );
        sent.on('error', reject);
        sent.end(body);
      }),
  });
}
