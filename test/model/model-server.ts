/**
 * The model's API server, as a Connection without a wire: lists in pages with honest tokens, watches with bookmarks, streaming lists,
 * compaction, two front ends of which one may be behind. What goes wrong is asked of the run's faults, request by request and line by line.
 *
 * Also the judge of what is asked of it (I5): lists and watches within the budget, Retry-After obeyed, at most so many lists at a time.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock, Random } from '../../src/base/clock.ts';
import type { Connection, ConnectionAnswer, ConnectionRequest } from '../../src/kube/client/connection.ts';
import { expired, json, refusedConnection, status, throttled, tooLarge, whole } from './model-answers.ts';
import { ModelBody } from './model-body.ts';
import { documentAt } from './model-documents.ts';
import type { ModelFaults } from './model-faults.ts';
import { objectText } from './model-object-text.ts';
import {
  apiVersionOf,
  type Backup,
  type EventType,
  idOf,
  type ModelObject,
  type ModelResource,
  ModelStorage,
  resourceAt,
  revisionOf,
  shown,
  withoutKind,
} from './model-storage.ts';
import type { RequestJudge } from './request-judge.ts';
import { Watcher } from './watcher.ts';

export interface ModelServerContext {
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly faults: ModelFaults;
  readonly judge: RequestJudge;
  /** What it serves. */
  readonly resources: readonly ModelResource[];
}

const namespaces = ['default', 'shop'];

export class ModelServer {
  storage: ModelStorage;
  /** Of the namespace kube-system. */
  uid: string;
  /** How far the second front end is behind, in revisions. */
  lag = 0;
  /** What is known of the storage may be of another time than the storage (restored, or another cluster's), or lack an event. */
  confused = false;
  /** While confused by a restore, writes stay below what was known. */
  ceiling = Number.POSITIVE_INFINITY;
  down = false;
  readonly forbidden = new Set<string>();
  readonly removed = new Set<string>();
  readonly stale = new Set<string>();
  readonly bodies = new Set<ModelBody>();
  readonly #context: ModelServerContext;
  readonly #watchers = new Set<Watcher>();
  readonly #resources: readonly ModelResource[];
  #uids = 0;
  #clusters = 0;
  #writes = 0;
  #turn = 0;
  /** Revision that the second front end has shown. */
  #second = 0;

  constructor(context: ModelServerContext) {
    this.#context = context;
    this.#resources = context.resources;
    this.storage = new ModelStorage(100);
    this.uid = `${context.name}-0`;
  }

  get connection(): Connection {
    return {
      cluster: this.#context.name,
      server: 'https://model.example.com',
      context: this.#context.name,
      source: 'the model',
      proxy: undefined,
      hasCredentials: true,
      isPrivate: true,
      request: (request) => this.#answer(request),
      connectAs: () => {
        throw new Error('the model knows no callers');
      },
      close: async () => {},
    };
  }

  get served(): readonly ModelResource[] {
    return this.#resources.filter(({ key }) => !this.removed.has(key));
  }

  /** True when each collection has a watch that its changes reach: none hangs on a connection that is dead without anybody knowing (F4). */
  get watched(): boolean {
    return this.served.every((resource) => [...this.#watchers].some((watcher) => watcher.resource === resource));
  }

  // ——— what happens to the objects

  /** Creates, changes, deletes or makes anew some object. */
  operate(resource: ModelResource = this.#one(this.served)): void {
    const { faults, random } = this.#context;
    const at = { namespace: this.#one(namespaces), name: `o${Math.floor(random() * 6)}` };
    const current = this.storage.objects(resource.key).get(idOf(at));
    if (this.storage.revision + 2 >= this.ceiling) return;
    if (current === undefined) {
      const unseen = faults.strikes('F36', 8);
      const { object } = this.write(resource, 'ADDED', at, unseen);
      if (unseen) this.write(resource, 'DELETED', object);
    } else if (random() < 0.6) this.write(resource, 'MODIFIED', current);
    else {
      this.write(resource, 'DELETED', current);
      if (random() < 0.5) this.write(resource, 'ADDED', at);
    }
  }

  /** Makes many objects, or deletes all. */
  burst(): void {
    if (this.storage.revision + 40 >= this.ceiling) return;
    const resource = this.#one(this.served);
    const objects = [...this.storage.objects(resource.key).values()];
    if (objects.length > 9) for (const object of objects) this.write(resource, 'DELETED', object);
    else for (let index = 0; index < 12; index += 1) this.#make(resource, `many-${index}`);
  }

  /** An object is changed or goes, and no watch will ever be told. */
  lose(): void {
    const resource = this.#one(this.served);
    const object = [...this.storage.objects(resource.key).values()][0];
    if (object === undefined || this.storage.revision + 1 >= this.ceiling) return;
    this.confused = true;
    this.write(resource, this.#context.random() < 0.5 ? 'MODIFIED' : 'DELETED', object, true);
  }

  /** The definition of a resource is removed, with its objects. */
  remove(resource: ModelResource): void {
    for (const object of this.storage.objects(resource.key).values()) this.write(resource, 'DELETED', object);
    this.removed.add(resource.key);
    this.#end((watcher) => watcher.resource === resource);
  }

  /** Goes back in time; what is written from now on stays below `known`, so that it can be told from the former future. */
  restore(backup: Backup, known: number): void {
    this.ceiling = known;
    this.confused = true;
    this.lag = 0;
    this.#second = 0;
    this.storage = new ModelStorage(backup.revision, backup);
    // A stream whose initial events are of the former future can have no honest end.
    this.#end((watcher) => this.#context.random() < 0.5 || watcher.initial);
    for (const watcher of this.#watchers) watcher.sent = Math.max(watcher.sent, backup.revision);
  }

  /** Another cluster answers. */
  becomeAnother(): void {
    this.#clusters += 1;
    this.uid = `${this.#context.name}-${this.#clusters}`;
    this.confused = true;
    this.lag = 0;
    this.#second = 0;
    this.ceiling = Number.POSITIVE_INFINITY;
    this.storage = new ModelStorage(50 + Math.floor(this.#context.random() * 100));
    this.#end(() => true);
  }

  /** All is known again as it is. */
  understood(): void {
    this.confused = false;
    this.ceiling = Number.POSITIVE_INFINITY;
  }

  write(resource: ModelResource, type: EventType, { namespace, name, uid }: Partial<ModelObject>, hidden = false) {
    this.#writes += 1;
    if (type === 'ADDED') this.#uids += 1;
    const known = type === 'ADDED' ? `${this.uid}-u${this.#uids}` : uid;
    const version = shown(resource, this.storage.revision + 1);
    const identity = { namespace: String(namespace), name: String(name), uid: String(known), version };
    const object = { ...identity, text: objectText(resource, identity, this.#writes) };
    const event = this.storage.write(resource, type, object, hidden);
    for (const watcher of [...this.#watchers]) if (watcher.resource === resource) watcher.catchUp();
    return event;
  }

  bookmark(): void {
    const { faults } = this.#context;
    if (faults.on && faults.has('F47')) {
      faults.count('F47');
      if (this.#context.random() < 0.7) return;
      for (const watcher of this.#watchers) watcher.bookmark(3);
    }
    for (const watcher of this.#watchers) watcher.bookmark(1);
  }

  compact(): void {
    this.storage.compacted = this.storage.revision;
  }

  dropWatches(): void {
    this.#end(() => true);
  }

  /** The second front end comes nearer. */
  catchUp(): void {
    this.lag = this.#context.faults.on ? Math.floor(this.lag / 2) : 0;
    for (const watcher of [...this.#watchers]) watcher.catchUp();
  }

  #make(resource: ModelResource, name: string): void {
    const at = { namespace: 'default', name };
    const known = this.storage.objects(resource.key).get(idOf(at));
    this.write(resource, known === undefined ? 'ADDED' : 'MODIFIED', known ?? at);
  }

  #end(which: (watcher: Watcher) => boolean): void {
    for (const watcher of [...this.#watchers]) {
      if (!which(watcher)) continue;
      watcher.leave();
      watcher.body.end();
    }
  }

  #one<T>(from: readonly T[]): T {
    return from[Math.floor(this.#context.random() * from.length)] as T;
  }

  // ——— what is asked

  async #answer({ path: asked, signal }: ConnectionRequest): Promise<ConnectionAnswer> {
    const { faults, random } = this.#context;
    const [path = '', text] = asked.split('?');
    const query = new URLSearchParams(text);
    const resource = resourceAt(path);
    if (resource !== undefined) this.#context.judge.asked(resource.key, query);
    await (faults.on && random() < 0.3 ? this.#takeTime(resource, signal) : nextTurn());
    signal?.throwIfAborted();
    // What kinds look like is no matter of the model.
    const described = path.startsWith('/openapi');
    if (this.down && !described) throw refusedConnection();
    const body = new ModelBody(signal);
    this.bodies.add(body);
    body.on('close', () => this.bodies.delete(body));
    const strike = described ? null : faults.pick(['F24', 'F26', 'F31'], resource === undefined ? 40 : 25);
    if (strike !== null) {
      faults.count(strike);
      if (strike === 'F24') throw refusedConnection();
      if (strike === 'F26') return status(body, 401, 'Unauthorized');
      return whole(body, this.#one([200, 502, 504]), '<html>Bad gateway</html>', { 'content-type': 'text/html' });
    }
    if (resource === undefined) return this.#describe(body, path);
    if (this.stale.has(resource.group)) return status(body, 503, 'ServiceUnavailable');
    if (!this.served.includes(resource)) return status(body, 404, 'NotFound');
    if (this.forbidden.has(resource.key)) return status(body, 403, 'Forbidden');
    // Two front ends behind one address take turns.
    this.#turn += 1;
    const visible = this.#standsAt(this.#turn % 2 === 0);
    if (query.get('watch') === 'true') {
      const streams = query.get('sendInitialEvents') === 'true';
      return streams
        ? this.#streamList(body, resource, query, visible, signal)
        : this.#watch(body, resource, query, visible, signal);
    }
    return this.#list(body, resource, query, visible);
  }

  /** An answer is late; meanwhile things happen. */
  async #takeTime(resource: ModelResource | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { clock, random } = this.#context;
    const half = random() * 400;
    await clock.sleep(half, signal);
    if (resource !== undefined && this.served.includes(resource) && random() < 0.5) this.operate(resource);
    await clock.sleep(half, signal);
  }

  #describe(body: ModelBody, path: string): ConnectionAnswer {
    const document = documentAt(path, { resources: this.served, stale: this.stale, uid: this.uid });
    return document === null ? status(body, 404, 'NotFound') : whole(body, 200, JSON.stringify(document), json);
  }

  #list(body: ModelBody, resource: ModelResource, query: URLSearchParams, visible: number): ConnectionAnswer {
    const { faults, random } = this.#context;
    const token = query.get('continue');
    const version = query.get('resourceVersion') ?? '';
    const strike = faults.pick(
      token !== null ? ['F10', 'F11', 'F12', 'F15', 'F23', 'F29'] : version !== '' ? listFaults : listFaults.slice(2),
      4,
    );
    if (strike !== null) {
      const answer = this.#strikeList(body, resource, query, strike);
      if (answer !== null) return answer;
    }
    let at = this.storage.revision;
    let from = 0;
    if (token !== null) [at = at, from = 0] = token.split(':').map(Number);
    else if (version !== '') {
      const wanted = revisionOf(version);
      if (query.get('resourceVersionMatch') === 'Exact') at = wanted;
      else at = visible;
      if (wanted > visible) return tooLarge(body, 'cause');
    }
    const exact = token !== null || query.get('resourceVersionMatch') === 'Exact';
    // Compacted; or a token of a future that it was restored from.
    if (exact && (at < this.storage.compacted || at > this.storage.revision)) return status(body, 410, 'Expired');
    const objects = this.storage.stateAt(resource.key, at);
    const limit = Number(query.get('limit') ?? 0);
    const page = limit === 0 ? objects.slice(from) : objects.slice(from, from + limit);
    const more = from + page.length < objects.length ? { continue: `${at}:${from + page.length}` } : {};
    const head = `"kind":"${resource.kind}List","apiVersion":"${apiVersionOf(resource)}"`;
    const metadata = `"metadata":${JSON.stringify({ resourceVersion: shown(resource, at), ...more })}`;
    const none = page.length === 0 && faults.strikes('F52', 2);
    const items = `"items":${none ? 'null' : `[${page.map(withoutKind).join(',')}]`}`;
    const text = random() < 0.5 ? `{${head},${metadata},${items}}\n` : `{${head},${items},${metadata}}\n`;
    const bytes = Buffer.from(text);
    if (strike === 'F12') {
      this.#write(body, bytes.subarray(0, Math.floor(random() * (bytes.length - 2))));
      if (random() < 0.5) body.reset();
      else body.end();
    } else {
      this.#write(body, bytes);
      body.end();
    }
    // The next page is of the same moment, whatever happens now.
    if (strike === 'F15') for (let more = 0; more < 3; more += 1) this.operate(resource);
    if (strike === 'F10') this.compact();
    return { status: 200, headers: json, body };
  }

  /** An answer instead of the list; null where the list itself is struck. */
  #strikeList(
    body: ModelBody,
    resource: ModelResource,
    query: URLSearchParams,
    strike: (typeof listFaults)[number],
  ): ConnectionAnswer | null {
    const { faults, judge, random } = this.#context;
    faults.count(strike);
    switch (strike) {
      case 'F8':
        return status(body, 410, 'Expired');
      case 'F9':
        return tooLarge(body, random() < 0.5 ? 'cause' : 'words');
      case 'F11': {
        const metadata = { continue: `${this.storage.revision}:2` };
        return status(body, 410, 'Expired', { metadata });
      }
      case 'F23':
        return throttled(body, judge.holdOff(resource.key, query));
      case 'F29':
        return status(body, 500, 'InternalError');
      case 'F54':
        return random() < 0.5
          ? whole(body, 302, '', { location: 'https://elsewhere.example.com' })
          : whole(body, 200, 'x', { ...json, 'content-encoding': 'gzip' });
      default:
        return null;
    }
  }

  #watch(
    body: ModelBody,
    resource: ModelResource,
    query: URLSearchParams,
    visible: number,
    signal: AbortSignal | undefined,
  ): ConnectionAnswer {
    const { faults, judge } = this.#context;
    const from = revisionOf(query.get('resourceVersion') ?? '');
    const strike = faults.pick(['F3', 'F5', 'F6', 'F9', 'F23', 'F29'], 8);
    if (strike !== null) faults.count(strike);
    if (strike === 'F23') return throttled(body, judge.holdOff(resource.key, query));
    if (strike === 'F9') return tooLarge(body, 'words');
    if (strike === 'F29') return status(body, 500, 'InternalError');
    if (strike === 'F5') return status(body, 410, 'Expired');
    if (strike === 'F3') return whole(body, 200, '', json);
    if (strike === 'F6' || from < this.storage.compacted) return whole(body, 200, expired, json);
    this.#begin(body, resource, query, { sent: from, visible }, signal).catchUp();
    return { status: 200, headers: json, body };
  }

  #streamList(
    body: ModelBody,
    resource: ModelResource,
    query: URLSearchParams,
    visible: number,
    signal: AbortSignal | undefined,
  ): ConnectionAnswer {
    const { faults, clock, judge, random } = this.#context;
    const strike = faults.pick(['F8', 'F9', 'F17', 'F18', 'F19', 'F23'], 5);
    if (strike !== null) faults.count(strike);
    if (strike === 'F18') return status(body, this.#one([400, 422, 405]), 'Invalid');
    if (strike === 'F8') return status(body, 410, 'Expired');
    if (strike === 'F9') return tooLarge(body, 'cause');
    if (strike === 'F23') return throttled(body, judge.holdOff(resource.key, query));
    const version = query.get('resourceVersion') ?? '';
    if (version !== '' && revisionOf(version) > visible) return tooLarge(body, 'cause');
    const at = version === '' ? this.storage.revision : visible;
    const objects = this.storage
      .stateAt(resource.key, at)
      .map((object) => ({ object, order: random() }))
      .sort((a, b) => a.order - b.order);
    faults.count('F16');
    const lines = objects.map(({ object }) => `{"type":"ADDED","object":${object.text}}\n`);
    if (strike === 'F19') {
      this.#write(body, Buffer.from(lines.slice(0, Math.ceil(lines.length * 0.9)).join('')));
      body.reset();
      return { status: 200, headers: json, body };
    }
    const watcher = this.#begin(body, resource, query, { sent: at, visible: at }, signal);
    watcher.initial = true;
    // A bookmark without the mark ends nothing, wherever it comes.
    if (strike === 'F17') lines.splice(Math.floor(lines.length / 2), 0, watcher.bookmarkLine());
    this.#write(body, Buffer.from(lines.join('')));
    if (strike === 'F17') return { status: 200, headers: json, body };
    const mark = (): void => {
      if (body.destroyed || !this.#watchers.has(watcher)) return;
      watcher.endInitial();
    };
    if (!faults.on || random() < 0.5) mark();
    else {
      // Changes come before the end is marked.
      if (random() < 0.3) this.operate(resource);
      void clock.sleep(random() * 1500, signal).then(mark, () => {});
    }
    return { status: 200, headers: json, body };
  }

  #begin(
    body: ModelBody,
    resource: ModelResource,
    query: URLSearchParams,
    from: { readonly sent: number; readonly visible: number },
    signal: AbortSignal | undefined,
  ): Watcher {
    const { clock, faults, random } = this.#context;
    const behind = from.visible < this.storage.revision;
    const watcher = new Watcher({
      body,
      resource,
      sent: from.sent,
      random,
      faults,
      events: (after) => this.storage.events(resource.key, after, this.#standsAt(behind)),
      revision: () => this.#standsAt(behind),
      before: (event) => this.storage.lastEvent(resource.key, event.revision - 1),
      write: (bytes) => this.#write(body, bytes),
      left: () => this.#watchers.delete(watcher),
    });
    this.#watchers.add(watcher);
    body.on('close', () => this.#watchers.delete(watcher));
    const seconds = Number(query.get('timeoutSeconds') ?? 60);
    const over = new AbortController();
    body.on('close', () => over.abort());
    signal?.addEventListener('abort', () => over.abort(), { once: true });
    void clock.sleep(seconds * 1000, over.signal).then(
      () => {
        if (!this.#watchers.delete(watcher)) return;
        body.end();
      },
      () => {},
    );
    return watcher;
  }

  /**
   * Revision of the first or second front end. The second falls behind, but never back; neither is ever seen between a write that no
   * watch is told of and its deletion.
   */
  #standsAt(second: boolean): number {
    if (!second) return this.storage.revision;
    const revision = this.storage.revision - this.lag;
    const seen = this.storage.isHidden(revision) ? revision - 1 : revision;
    this.#second = Math.max(this.#second, seen);
    return this.#second;
  }

  /** In one piece, or cut anywhere. */
  #write(body: ModelBody, bytes: Buffer): void {
    const { faults, random } = this.#context;
    if (bytes.length === 0) return;
    if (!faults.strikes('F38', 4)) {
      body.write(bytes);
      return;
    }
    for (let from = 0; from < bytes.length; ) {
      const until = from + 1 + Math.floor(random() * 300);
      body.write(bytes.subarray(from, until));
      from = until;
    }
  }
}

const listFaults = ['F8', 'F9', 'F10', 'F11', 'F12', 'F15', 'F23', 'F29', 'F54'] as const;
