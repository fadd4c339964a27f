/** Shared by the tests of src/query: a store with two kinds of the same objects, one with promoted columns and one without. */

import { onTestFinished } from 'vitest';
import { unrestricted } from '../../src/access/scope.ts';
import type { PromotedPath } from '../../src/catalog/resources/catalog.ts';
import type { LeafType } from '../../src/catalog/tree/field-tree.ts';
import { parsePath } from '../../src/catalog/tree/path.ts';
import type { OrderTerm, PlannedKind } from '../../src/query/plan/plan.ts';
import type { View } from '../../src/query/sql/view.ts';
import { readView } from '../../src/query/sql/view.ts';
import { openReader, type PooledReader } from '../../src/store/read/reader.ts';
import type { IncomingObject } from '../../src/store/types/incoming-object.ts';
import type { Lease } from '../../src/store/types/lease.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import type { Row, Statement } from '../../src/store/types/statement.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { describedResource, storeFile } from './store-file.ts';

export const promotedKey = 'widgets.example.com';
export const plainKey = 'gadgets.example.com';

export function plannedKind(key: string): PlannedKind {
  return { key, tree: { root: 'root', shapes: {} } };
}

export interface TestStore {
  readonly file: string;
  readonly writer: StoreWriter;
  readonly reader: PooledReader;
  handle(key: string, cluster: string): ResourceHandle;
  /** Replaces a resource's objects. */
  sync(key: string, cluster: string, texts: readonly string[]): Promise<void>;
  read<T>(work: (lease: Lease, view: View) => Promise<T>): Promise<T>;
}

/** Opens a store in a temporary file, which is removed after the test. */
export function openTestStore(
  promoted: readonly PromotedPath[],
  clusters: readonly string[] = ['east', 'west'],
): TestStore {
  const file = storeFile();
  const writer = openWriter(file, { checkpoints: 'inline' });
  onTestFinished(() => writer.close());
  const reader = openReader(file, { readers: 1, leaseMs: 60_000 });
  onTestFinished(() => reader.close());
  const handles = new Map<string, ResourceHandle>();
  for (const cluster of clusters) {
    for (const [key, plural] of [
      [promotedKey, 'widgets'],
      [plainKey, 'gadgets'],
    ] as const) {
      const described = describedResource({
        plural,
        group: 'example.com',
        kind: plural,
        cluster,
        promoted: key === promotedKey ? promoted : [],
      });
      handles.set(`${key} ${cluster}`, writer.declare(described));
    }
  }
  const handle = (key: string, cluster: string): ResourceHandle => {
    const found = handles.get(`${key} ${cluster}`);
    if (found === undefined) throw new Error(`no resource ${key} in ${cluster}`);
    return found;
  };
  return {
    file,
    writer,
    reader,
    handle,
    async sync(key, cluster, texts) {
      const replace = writer.replace(handle(key, cluster));
      replace.put(texts.map((text): IncomingObject => ({ text })));
      await replace.commit('1');
    },
    read: (work) => reader.lease(async (lease) => work(lease, await readView(lease, unrestricted))),
  };
}

/** A lease that records its statements. */
export function recording(lease: Lease): { readonly lease: Lease; readonly statements: Statement[] } {
  const statements: Statement[] = [];
  return {
    statements,
    lease: {
      revision: lease.revision,
      epoch: lease.epoch,
      layoutVersion: lease.layoutVersion,
      all: (statement) => {
        statements.push(statement);
        return lease.all(statement);
      },
      fill: (asked, limit) => {
        statements.push(...asked);
        return lease.fill(asked, limit);
      },
    },
  };
}

/** SQLite's query plan of a statement, one line for each step. */
export async function explain(lease: Lease, statement: Statement): Promise<string> {
  const rows: readonly Row[] = await lease.all({
    sql: `EXPLAIN QUERY PLAN ${statement.sql}`,
    params: statement.params,
  });
  return rows.map((row) => String(row[3])).join('\n');
}

export function orderTerm(
  path: string,
  type: LeafType,
  direction: 'ASC' | 'DESC' = 'ASC',
  nulls: 'FIRST' | 'LAST' = 'LAST',
): OrderTerm {
  return { path: parsePath(path), type, direction, nulls };
}

export interface Thing {
  readonly name: string;
  readonly namespace?: string | null;
  readonly uid?: string;
  readonly created?: string;
  readonly labels?: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly rest?: Readonly<Record<string, unknown>>;
}

let made = 0;

/** The JSON text of an object. */
export function thing({ name, namespace = 'default', uid, created, labels, metadata, rest }: Thing): string {
  made += 1;
  return JSON.stringify({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
    metadata: {
      name,
      ...(namespace === null ? {} : { namespace }),
      uid: uid ?? `uid-${made}`,
      resourceVersion: String(made),
      creationTimestamp: created ?? '2026-01-31T12:00:00Z',
      ...(labels === undefined ? {} : { labels }),
      ...metadata,
    },
    ...rest,
  });
}
