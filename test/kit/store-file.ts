/** A place for a store file, described resources, and objects as texts. */
import { join } from 'node:path';
import type { DescribedResource, PromotedPath } from '../../src/catalog/resources/catalog.ts';
import type { IncomingEvent, IncomingObject } from '../../src/store/types/incoming-object.ts';
import { temporaryDirectory } from './temporary-directory.ts';

/** A place for a store file, which goes away with the test. */
export function storeFile(): string {
  return join(temporaryDirectory('store'), 'store.db');
}

export interface Described {
  readonly plural?: string;
  readonly kind?: string;
  readonly group?: string;
  readonly version?: string;
  readonly cluster?: string;
  readonly shapeHash?: string;
  readonly promoted?: readonly PromotedPath[];
  readonly redacted?: readonly string[];
}

export function describedResource(given: Described = {}): DescribedResource {
  const plural = given.plural ?? 'pods';
  return {
    cluster: given.cluster ?? 'east',
    resource: {
      group: given.group ?? '',
      version: given.version ?? 'v1',
      plural,
      singular: plural.slice(0, -1),
      kind: given.kind ?? 'Pod',
      namespaced: true,
      verbs: ['list', 'watch'],
      shortNames: [],
      categories: [],
    },
    tree: { root: 'root', shapes: {} },
    shapeHash: given.shapeHash ?? 'shape-1',
    printerColumns: [],
    promoted: given.promoted ?? [{ path: 'status.phase', type: 'String' }],
    redacted: given.redacted ?? [],
    diagnostics: [],
  };
}

/** A kind with the field `spec` alone, so that it is served. */
export function servedResource(given: Described): DescribedResource {
  const field = { name: 'spec', type: { kind: 'leaf', type: 'JSON' } } as const;
  const root = { key: 'root', path: [], fields: [field] };
  return { ...describedResource({ promoted: [], ...given }), tree: { root: 'root', shapes: { root } } };
}

export interface TestObject {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly rv: number | string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly phase?: string;
  readonly rest?: Readonly<Record<string, unknown>>;
}

export function pod(given: TestObject): IncomingObject {
  const namespace = given.namespace ?? 'default';
  return {
    text: JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: given.name,
        namespace,
        uid: given.uid ?? `uid-${namespace}-${given.name}`,
        resourceVersion: String(given.rv),
        creationTimestamp: '2026-01-31T12:00:00Z',
        ...(given.labels === undefined ? {} : { labels: given.labels }),
        ...given.metadata,
      },
      status: { phase: given.phase ?? 'Running' },
      ...given.rest,
    }),
  };
}

export function event(type: IncomingEvent['type'], given: TestObject): IncomingEvent {
  return { type, object: pod(given) };
}

const counting = '(SELECT rowset FROM resource WHERE synced = 1)';

/** How many entries of object_by_uid and object_by_label are missing for rows that count, or stand there for no row at all. */
export const entriesAmiss = `SELECT
  (SELECT count(*) FROM object o WHERE o.rowset IN ${counting}
    AND NOT EXISTS (SELECT 1 FROM object_by_uid e WHERE e.uid = o.uid AND e.id = o.id))
  + (SELECT count(*) FROM object o CROSS JOIN json_each(o.marks, '$[0]') l WHERE o.rowset IN ${counting}
    AND NOT EXISTS (SELECT 1 FROM object_by_label e WHERE e.kind = o.kind AND e.key = l.key AND e.value = l.value AND e.id = o.id))
  + (SELECT count(*) FROM object_by_uid e WHERE NOT EXISTS (SELECT 1 FROM object o WHERE o.id = e.id AND o.uid = e.uid))
  + (SELECT count(*) FROM object_by_label e
    WHERE NOT EXISTS (SELECT 1 FROM object o CROSS JOIN json_each(o.marks, '$[0]') l
      WHERE o.id = e.id AND o.kind = e.kind AND l.key = e.key AND l.value = e.value))`;
