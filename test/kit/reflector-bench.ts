/** A reflector over a scripted API server, a store file and a clock that the test moves. */

import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/log.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import {
  defaultReflectorSettings,
  type ReflectorContext,
  type ReflectorSettings,
} from '../../src/ingest/context/reflector-context.ts';
import { StreamingLists } from '../../src/ingest/context/streaming-lists.ts';
import { RequestBudget } from '../../src/ingest/flow/request-budget.ts';
import { RetryPace } from '../../src/ingest/flow/retry-pace.ts';
import { Slots } from '../../src/ingest/flow/slots.ts';
import { Reflector } from '../../src/ingest/reflector/reflector.ts';
import { apiErrorFromAnswer } from '../../src/kube/http/api-error.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { ManualClock } from './manual-clock.ts';
import type { ScriptedAnswer } from './scripted-client.ts';
import { ScriptedBody, ScriptedClient } from './scripted-client.ts';
import { temporaryDirectory } from './temporary-directory.ts';

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
  /** RFC 3339. */
  readonly created?: string;
  readonly more?: object;
}

export function podText({ name, rv, uid = `uid-${name}`, created, more = {} }: TestPod<number | string>): string {
  const metadata = { name, namespace: 'default', uid, resourceVersion: String(rv), creationTimestamp: created };
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
    redacted: [],
    diagnostics: [],
  };
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
  const file = join(temporaryDirectory('ingest'), 'store.db');
  const writer = openWriter(file, { checkpoints: 'inline', clock });
  onTestFinished(() => writer.close());
  writer.openCluster('east', 'uid-of-east');
  const described = describedPods(options.verbs);
  const settings = { ...defaultReflectorSettings, streamingLists: false, ...options.settings };
  const budget = new RequestBudget(clock, settings.requests);
  const streaming = new StreamingLists(clock, settings);
  const bookmarks = { seen: false };
  const interruptions = { failed: () => {}, continues: () => {} };
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
        lists: new Slots(clock, 4),
        openings: new Slots(clock, 16),
        budget,
        pace: new RetryPace(() => 1),
        streaming,
        interruptions,
        bookmarks,
        resume: true,
        ...more,
      });
      onTestFinished(() => reflector.stop());
      return reflector;
    },
  };
}
