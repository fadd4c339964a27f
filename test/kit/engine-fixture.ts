/**
 * A store in a temporary file, a reader on it and an engine over both, without a network. The tests of src/live and src/graphql use it.
 * Everything is closed and removed at the end of the test, or of the file.
 */

import { join } from 'node:path';
import { type ExecutionResult, execute, type GraphQLError, parse, validate } from 'graphql';
import { afterAll, beforeAll, onTestFinished } from 'vitest';
import { localUser } from '../../src/access/caller.ts';
import { systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { must } from '../../src/base/must.ts';
import { describeResource } from '../../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../../src/catalog/describe/from-crd.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { createEngine, type Engine, type EngineOptions } from '../../src/graphql/engine.ts';
import type { GraphQLSource } from '../../src/graphql/generation/generation.ts';
import { subscribeAcrossGenerations } from '../../src/graphql/generation/subscribe.ts';
import { beginOperation, type Operation } from '../../src/operation/operation.ts';
import { openReader, type PooledReader, type ReaderOptions } from '../../src/store/read/reader.ts';
import type { IncomingEvent } from '../../src/store/types/incoming-object.ts';
import type { Lease, Reader } from '../../src/store/types/lease.ts';
import type { PageReader } from '../../src/store/types/page-reader.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import type { Statement } from '../../src/store/types/statement.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import type { WriterOptions } from '../../src/store/write/writer-options.ts';
import { storeFile } from './store-file.ts';
import { sharedDirectory } from './temporary-directory.ts';

export interface FixtureOptions {
  readonly writer?: WriterOptions;
  readonly reader?: Partial<ReaderOptions>;
  readonly maxPageSize?: number;
  readonly maxCost?: number;
  readonly maxReadBytes?: number;
  readonly scanRows?: number;
  readonly log?: Logger;
  /** Further options of the engine. With `answerCacheBytes`, answers are kept. */
  readonly engine?: Pick<
    Partial<EngineOptions>,
    'clock' | 'typePrefix' | 'diagnosis' | 'slowQueryMs' | 'rights' | 'waitForSyncMs' | 'answerCacheBytes' | 'writes'
  >;
  /** Are the paths that queries need reported to the writer, for promotion? */
  readonly promotes?: boolean;
}

/** An answer as a test reads it. */
export interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is the query's, which the test has beside it.
  readonly data: any;
  readonly errors: readonly GraphQLError[];
  readonly operation: Operation;
}

export type Events = AsyncGenerator<ExecutionResult, void, undefined>;

export interface EngineFixture {
  readonly file: string;
  readonly reader: PooledReader;
  /** The same reader, as a PageReader. */
  readonly pages: PageReader;
  readonly engine: Engine;
  /** Every statement that ran in a lease, in order. */
  readonly statements: Statement[];
  writer(): StoreWriter;
  /** Closes the writer and opens the file again. */
  reopen(): void;
  handle(key: string, cluster?: string): ResourceHandle;
  /** Declares resources and publishes the schema. */
  declare(...described: readonly DescribedResource[]): Promise<void>;
  /** Replaces a resource's objects with these. */
  sync(key: string, objects: readonly unknown[], cluster?: string): Promise<void>;
  apply(key: string, type: IncomingEvent['type'], object: unknown, cluster?: string): void;
  /** Validates and executes. @throws the first validation error. */
  query(text: string, variables?: Readonly<Record<string, unknown>>): Promise<Answer>;
  /** Subscribes across generations; the subscription ends with the test. @throws the first error of the subscribe step. */
  subscribe(text: string, variables?: Readonly<Record<string, unknown>>, signal?: AbortSignal): Promise<Events>;
}

/** One fixture for all tests of a file or group, which only read it. Gives what `prepare` makes of it before the first of them. */
export function sharedFixture<T>(prepare: (fixture: EngineFixture) => Promise<T>): () => T {
  let prepared: { readonly value: T } | null = null;
  let close = async (): Promise<void> => {};
  beforeAll(async () => {
    const file = join(sharedDirectory('store'), 'store.db');
    const fixture = fixtureOn(file, {}, (end) => {
      close = end;
    });
    prepared = { value: await prepare(fixture) };
  });
  afterAll(() => close());
  return () => must(prepared, 'the tests run').value;
}

export function engineFixture(options: FixtureOptions = {}): EngineFixture {
  return fixtureOn(storeFile(), options, onTestFinished);
}

function fixtureOn(file: string, options: FixtureOptions, atEnd: (close: () => Promise<void>) => void): EngineFixture {
  const writerOptions: WriterOptions = { checkpoints: 'inline', ...options.writer };
  let writer = openWriter(file, writerOptions);
  const reader = openReader(file, {
    readers: 2,
    leaseMs: 60_000,
    pagesNowMs: Number.POSITIVE_INFINITY,
    ...options.reader,
  });
  const statements: Statement[] = [];
  const log = options.log ?? silentLogger;
  const engine = createEngine({
    reader: recorded(reader, statements),
    log,
    clock: systemClock,
    pages: reader,
    maxPageSize: options.maxPageSize ?? 500,
    ...(options.maxCost === undefined ? {} : { maxCost: options.maxCost }),
    ...(options.maxReadBytes === undefined ? {} : { maxReadBytes: options.maxReadBytes }),
    ...(options.promotes === true ? { promote: (use) => void writer.promote(use) } : {}),
    ...options.engine,
    ...(options.scanRows === undefined ? {} : { scanRows: options.scanRows }),
  });
  const listen = (): void => void writer.onCommit((commit) => engine.wake(commit));
  listen();
  atEnd(async () => {
    engine.close();
    writer.close();
    await reader.close();
  });

  const handle = (key: string, cluster = 'east'): ResourceHandle => {
    const found = writer.states(cluster).find((state) => state.handle.key === key);
    if (found === undefined) throw new Error(`no resource ${key} in ${cluster}`);
    return found.handle;
  };

  return {
    file,
    reader,
    pages: reader,
    engine,
    statements,
    writer: () => writer,
    reopen() {
      writer.close();
      writer = openWriter(file, writerOptions);
      listen();
    },
    handle,
    async declare(...described) {
      for (const each of described) {
        writer.openCluster(each.cluster, `uid-${each.cluster}`);
        writer.declare(each);
      }
      await engine.refreshCatalog();
    },
    async sync(key, objects, cluster) {
      const replace = writer.replace(handle(key, cluster));
      replace.put(objects.map((object) => ({ text: textOf(object) })));
      await replace.commit(String(newest(objects)));
    },
    apply(key, type, object, cluster) {
      writer.apply(handle(key, cluster), [{ type, object: { text: textOf(object) } }], String(newest([object])));
    },
    query: (text, variables) => queryOf(engine.source, text, variables),
    subscribe: (text, variables, signal) => subscribeTo(engine.source, text, variables, signal),
  };
}

/** Subscribes across generations; the subscription ends with the test. @throws the first error of the subscribe step. */
export async function subscribeTo(
  source: GraphQLSource,
  text: string,
  variables?: Readonly<Record<string, unknown>>,
  signal?: AbortSignal,
): Promise<Events> {
  const portolan = beginOperation(source, localUser, signal);
  const { schema } = portolan.generation;
  const document = parse(text);
  const [problem] = validate(schema, document);
  if (problem !== undefined) throw problem;
  const events = await subscribeAcrossGenerations({
    schema,
    document,
    contextValue: { portolan },
    ...(variables === undefined ? {} : { variableValues: variables }),
  });
  if (!(Symbol.asyncIterator in events)) throw events.errors?.[0]?.originalError ?? events.errors?.[0];
  const generator = events as Events;
  onTestFinished(async () => void (await generator.return()));
  return generator;
}

/** Executes a query in a new operation, and ends the operation. */
export async function queryOf(
  source: GraphQLSource,
  text: string,
  variables?: Readonly<Record<string, unknown>>,
): Promise<Answer> {
  const operation = beginOperation(source, localUser);
  try {
    const { schema } = operation.generation;
    const document = parse(text);
    const [problem] = validate(schema, document);
    if (problem !== undefined) throw problem;
    const result = (await execute({
      schema,
      document,
      contextValue: { portolan: operation },
      ...(variables === undefined ? {} : { variableValues: variables }),
    })) as ExecutionResult;
    return { data: result.data, errors: result.errors ?? [], operation };
  } finally {
    operation.end();
  }
}

function recorded(reader: Reader, statements: Statement[]): Reader {
  const over = (lease: Lease): Lease => ({
    revision: lease.revision,
    epoch: lease.epoch,
    layoutVersion: lease.layoutVersion,
    all: (statement) => {
      statements.push(statement);
      return lease.all(statement);
    },
    fill: (batch, limit) => {
      statements.push(...batch);
      return lease.fill(batch, limit);
    },
  });
  return {
    lease: (work, options) => reader.lease((lease) => work(over(lease)), options),
    async open(options) {
      const lease = await reader.open(options);
      return { ...over(lease), end: () => lease.end() };
    },
    close: () => reader.close(),
  };
}

export function textOf(object: unknown): string {
  return typeof object === 'string' ? object : JSON.stringify(object);
}

/** The greatest resourceVersion of these objects. */
export function newest(objects: readonly unknown[]): number {
  const versions = objects.map((object) => Number(/"resourceVersion":"(\d+)"/.exec(textOf(object))?.[1] ?? 1));
  return Math.max(1, ...versions);
}

export type Schema = Readonly<Record<string, unknown>>;

export interface CrdGiven {
  readonly group?: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced?: boolean;
  /** OpenAPI properties besides apiVersion, kind and metadata. */
  readonly properties: Schema;
  readonly columns?: readonly Schema[];
  readonly cluster?: string;
}

/** A resource of `group` (example.com) described from a CustomResourceDefinition with these properties. */
export function describedCrd(given: CrdGiven): DescribedResource {
  const { kind, plural, cluster = 'east', group = 'example.com' } = given;
  const crd = {
    spec: {
      group,
      names: { kind, plural, singular: kind.toLowerCase() },
      scope: given.namespaced === false ? 'Cluster' : 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: given.properties } },
          ...(given.columns === undefined ? {} : { additionalPrinterColumns: given.columns }),
        },
      ],
    },
  };
  const resource = resourceOfCrd(crd);
  if (resource === null) throw new Error(`the CRD of ${kind} is none`);
  return describeResource({ cluster, resource, crd });
}

export interface Given {
  readonly name: string;
  readonly namespace?: string | null;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, unknown>>;
  readonly owner?: { readonly uid: string };
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

let version = 100;

/** A namespaced object with a resourceVersion newer than all before. Fields other than metadata are put at its root. */
export function made({ name, namespace = 'default', uid, labels, owner, metadata, ...rest }: Given): Schema {
  version += 1;
  return {
    metadata: {
      name,
      ...(namespace === null ? {} : { namespace }),
      uid: uid ?? `uid-${namespace}-${name}`,
      resourceVersion: String(version),
      creationTimestamp: '2026-01-31T12:00:00Z',
      ...(labels === undefined ? {} : { labels }),
      ...(owner === undefined
        ? {}
        : { ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Owner', name: 'owner', uid: owner.uid }] }),
      ...metadata,
    },
    ...rest,
  };
}
