/** What the tests of this room share: a clock that stands until it is moved, an API server that answers as told, a store. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import {
  defaultReflectorSettings,
  type ReflectorContext,
  type ReflectorSettings,
} from '../../src/ingest/context/reflector-context.ts';
import { StreamingLists } from '../../src/ingest/context/streaming-lists.ts';
import { Gate } from '../../src/ingest/flow/gate.ts';
import { RequestBudget } from '../../src/ingest/flow/request-budget.ts';
import { Reflector } from '../../src/ingest/reflector/reflector.ts';
import type { Query, RestClient, StreamAnswer } from '../../src/kube/client/rest-client.ts';
import { apiErrorFromAnswer } from '../../src/kube/http/api-error.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';

/** Time that moves only when a test says so. */
export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  #waiting: { due: number; wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  /** How many sleeps are under way. */
  get sleepers(): number {
    return this.#waiting.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const sleeper = {
        due: this.#now + ms,
        wake: () => {
          signal?.removeEventListener('abort', onAbort);
          this.#waiting = this.#waiting.filter((other) => other !== sleeper);
          resolve();
        },
      };
      const onAbort = (): void => {
        this.#waiting = this.#waiting.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(sleeper);
    });
  }

  /** Moves time on, waking sleepers in the order they are due and letting what they do settle. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    for (;;) {
      const next = this.#waiting.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due)[0];
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.due);
      next.wake();
      await settle();
    }
    this.#now = until;
    await settle();
  }
}

/** Lets all that can happen without time passing happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 25; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

export interface AskedRequest {
  readonly path: string;
  readonly query: Query;
}

/** A body that a test writes. */
export class ScriptedBody extends Readable {
  override _read(): void {}
  write(text: string): void {
    this.push(Buffer.from(text));
  }
  end(): void {
    this.push(null);
  }
  /** Breaks the connection off, once what was written has been read. */
  async reset(): Promise<void> {
    await settle();
    this.destroy(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  }
}

export type ScriptedAnswer = (request: AskedRequest) => ScriptedBody;

/** A client whose requests are answered in turn by what the test has prepared; a request without an answer waits. */
export class ScriptedClient {
  readonly asked: AskedRequest[] = [];
  readonly #answers: ScriptedAnswer[] = [];
  /** Bodies that have been handed out and not been ended by anybody. */
  readonly bodies: ScriptedBody[] = [];

  answer(...answers: readonly ScriptedAnswer[]): void {
    this.#answers.push(...answers);
  }

  /** The body of the newest answer. */
  get body(): ScriptedBody {
    return must(this.bodies.at(-1), 'an answer was given');
  }

  readonly stream: RestClient['stream'] = async (path, query = {}, options = {}) => {
    const { signal } = options;
    signal?.throwIfAborted();
    this.asked.push({ path, query });
    const answer = this.#answers.shift();
    if (answer === undefined) {
      return new Promise<StreamAnswer>((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
      });
    }
    const body = answer({ path, query });
    this.bodies.push(body);
    signal?.addEventListener('abort', () => body.destroy(signal.reason as Error), { once: true });
    return { status: 200, headers: {}, body };
  };
}

export function open(...texts: readonly string[]): ScriptedAnswer {
  return () => {
    const body = new ScriptedBody();
    for (const text of texts) body.write(text);
    return body;
  };
}

export function whole(...texts: readonly string[]): ScriptedAnswer {
  return (request) => {
    const body = open(...texts)(request);
    body.end();
    return body;
  };
}

export function refused(
  code: number,
  reason: string,
  more: { headers?: Record<string, string>; details?: object; message?: string } = {},
): ScriptedAnswer {
  return ({ path }) => {
    throw apiErrorFromAnswer({
      what: `GET ${path}`,
      httpStatus: code,
      headers: more.headers ?? {},
      text: JSON.stringify({
        kind: 'Status',
        code,
        reason,
        message: more.message ?? reason,
        details: more.details ?? {},
      }),
    });
  };
}

/** `rv` is a number where the test counts with it. */
export interface TestPod<Version extends number | string = number> {
  readonly name: string;
  readonly rv: Version;
  readonly uid?: string;
  readonly more?: object;
}

export function podText({ name, rv, uid = `uid-${name}`, more = {} }: TestPod<number | string>): string {
  const metadata = { name, namespace: 'default', uid, resourceVersion: String(rv) };
  return JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata, ...more });
}

export function listText(rv: number | string, pods: readonly TestPod[], more: object = {}): string {
  const metadata = JSON.stringify({ resourceVersion: String(rv), ...more });
  return `{"kind":"PodList","apiVersion":"v1","metadata":${metadata},"items":[${pods.map(podText).join(',')}]}`;
}

export function eventLine(type: string, pod: TestPod<number | string>): string {
  return `{"type":"${type}","object":${podText(pod)}}\n`;
}

export function bookmarkLine(rv: number): string {
  return `{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"${rv}"}}}\n`;
}

/** The bookmark behind the initial events of a streaming list. */
export function endLine(rv: number): string {
  const metadata = { resourceVersion: String(rv), annotations: { 'k8s.io/initial-events-end': 'true' } };
  return `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata } })}\n`;
}

export function errorLine(code: number, reason: string): string {
  return `{"type":"ERROR","object":${JSON.stringify({ kind: 'Status', code, reason, message: reason })}}\n`;
}

export function describedPods(verbs: readonly string[] = ['list', 'watch']): DescribedResource {
  return {
    cluster: 'east',
    resource: {
      group: '',
      version: 'v1',
      plural: 'pods',
      singular: 'pod',
      kind: 'Pod',
      namespaced: true,
      verbs,
      shortNames: [],
      categories: [],
    },
    tree: { root: 'root', shapes: {} },
    shapeHash: 'shape',
    printerColumns: [],
    promoted: [],
    withheld: [],
    diagnostics: [],
  };
}

export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'portolan-ingest-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The published objects of a store file, as `cluster/kind/namespace/name uid@version`. */
export function storedObjects(file: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .statement(
        `SELECT o.cluster || '/' || k.key || '/' || o.namespace || '/' || o.name || ' ' || o.uid || '@' || o.rv
         FROM object o JOIN kind k ON k.id = o.kind WHERE o.rowset IN (SELECT rowset FROM resource WHERE synced = 1) ORDER BY 1`,
      )
      .all()
      .map(([text]) => String(text));
  } finally {
    database.close();
  }
}

export interface ReflectorBench {
  readonly clock: ManualClock;
  readonly client: ScriptedClient;
  readonly writer: StoreWriter;
  readonly file: string;
  readonly handle: ResourceHandle;
  /** `name uid@version`, sorted. */
  pods(): string[];
  /** Entries of the change log as `TYPE name`, oldest first. */
  changes(): string[];
  version(): string | null;
  /** A reflector that is stopped when the test ends. */
  reflector(more?: Partial<ReflectorContext>): Reflector;
}

/** A store, a clock and a client, and a reflector of Pods between them. `random` is always a half; streaming lists are off. */
export function reflectorBench(
  options: { verbs?: readonly string[]; settings?: Partial<ReflectorSettings> } = {},
): ReflectorBench {
  const clock = new ManualClock();
  const client = new ScriptedClient();
  const file = join(temporaryDirectory(), 'store.db');
  const writer = openWriter(file, { checkpoints: 'inline', clock });
  onTestFinished(() => writer.close());
  writer.openCluster('east', 'uid-of-east');
  const described = describedPods(options.verbs);
  const settings = { ...defaultReflectorSettings, streamingLists: false, ...options.settings };
  const budget = new RequestBudget(clock, settings.requests);
  const streaming = new StreamingLists(clock, settings.streamingLists);
  const handle = writer.declare(described);
  const read = (sql: string): string[] => {
    const database = new Database(file, { readonly: true });
    try {
      return database
        .statement(sql)
        .all()
        .map(([text]) => String(text));
    } finally {
      database.close();
    }
  };
  return {
    clock,
    client,
    writer,
    file,
    handle,
    pods: () => storedObjects(file).map((line) => line.replace('east/pods/default/', '')),
    changes: () => read(`SELECT trim(type || ' ' || name) FROM change ORDER BY seq`),
    version: () => writer.state(handle).lastResourceVersion,
    reflector: (more = {}) => {
      const reflector = new Reflector({
        resource: described.resource,
        handle,
        client,
        writer,
        clock,
        random: () => 0.5,
        log: silentLogger,
        settings,
        lists: new Gate(4),
        openings: new Gate(16),
        budget,
        streaming,
        resume: true,
        ...more,
      });
      onTestFinished(() => reflector.stop());
      return reflector;
    },
  };
}
