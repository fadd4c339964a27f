/**
 * A GraphQLSource over a small hand-made schema and a reader without a store, which counts its leases. For tests of the server's own
 * work: transports, errors, limits, leases.
 */

import {
  GraphQLError,
  GraphQLInt,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { seesEverything } from '../../src/access/rights.ts';
import { systemClock } from '../../src/base/clock.ts';
import { PortolanError } from '../../src/base/errors.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import type { Generation, GraphQLSource, OperationContext } from '../../src/graphql/generation/generation.ts';
import { ChangeFeed } from '../../src/live/feed/change-feed.ts';
import { LiveQueries } from '../../src/live/query/live-queries.ts';
import { watchedChanges } from '../../src/live/query/watched-changes.ts';
import { KeptAnswers } from '../../src/operation/answers/kept-answers.ts';
import { Staleness } from '../../src/operation/answers/staleness.ts';
import { IndexAdvisor } from '../../src/operation/parts/index-advisor.ts';
import { SlowQueries } from '../../src/operation/parts/slow-queries.ts';
import { SyncWatch } from '../../src/operation/sync-watch.ts';
import { KeptCounts } from '../../src/query/read/kept-counts.ts';
import { readiness } from '../../src/query/read/readiness.ts';
import type { Lease, Reader } from '../../src/store/types/lease.ts';
import { OpenApiDocuments } from '../../src/upstream/openapi-documents.ts';

export interface HandMade {
  readonly source: GraphQLSource;
  /** Counts of leases opened and ended so far. */
  readonly leases: { opened: number; ended: number };
  /** The signal that each lease was opened with. */
  readonly signals: (AbortSignal | undefined)[];
  /** Counts of `ticks` subscriptions: begun, and ended by a `return` call. */
  readonly ticks: { begun: number; ended: number };
  /** The logged errors, with their fields. */
  readonly logged: { readonly fields: object; readonly message: string }[];
  readonly log: Logger;
  /** Resolves the field `held` of every operation that waits for it. */
  release(): void;
  /** Publishes a generation with the field `Query.<name>` for later operations. */
  swap(name: string): void;
  /** Removes the generation, as before the first contact with a cluster. */
  forget(): void;
}

/** @param onTick is called before each value of the subscription `ticks`, in its asynchronous context. */
export function handMadeSource({ onTick = () => {} }: { readonly onTick?: () => void } = {}): HandMade {
  const leases = { opened: 0, ended: 0 };
  const signals: (AbortSignal | undefined)[] = [];
  const ticks = { begun: 0, ended: 0 };
  const logged: HandMade['logged'] = [];
  const log: Logger = {
    ...silentLogger,
    error: (fields, message) => void logged.push({ fields, message }),
    child: () => log,
  };
  const held = Promise.withResolvers<string>();
  const reader = countingReader(leases, signals);
  const feed = new ChangeFeed(reader, log);
  let generation: Generation | null = generationOf(
    'first',
    schema('greeting', held.promise, { counts: ticks, onTick }),
  );
  const source: GraphQLSource = {
    reader,
    feed,
    commits: feed,
    liveQueries: new LiveQueries({
      changes: watchedChanges(feed),
      readers: [reader],
      runs: 1,
      monotonic: () => systemClock.monotonic(),
      sleep: (ms, signal) => systemClock.sleep(ms, signal),
    }),
    log,
    isConfigured: () => false,
    rights: seesEverything,
    upstream: () => Promise.reject(new Error('There are no API servers.')),
    logs: {
      enter: () => () => {},
      charge: () => {},
      hold: () => ({ isFull: false, requireRoom: () => {}, add: () => {}, release: () => {} }),
    },
    secretData: 'absent',
    openApi: {
      documents: new OpenApiDocuments(),
      client: () => Promise.reject(new Error('There are no API servers.')),
    },
    writes: null,
    searchPaths: [],
    limits: { maxPageSize: 100, maxCost: 10_000, maxReadBytes: 1024 * 1024, scanRows: 1000, waitForSyncMs: 0 },
    syncWatch: new SyncWatch((keys) => reader.lease((lease) => readiness(lease, keys)), feed),
    counts: new KeptCounts(),
    staleness: new Staleness(systemClock),
    answers: new KeptAnswers(null),
    indexAdvisor: new IndexAdvisor(systemClock, null),
    diagnosis: { explain: false, promote: [] },
    slowQueries: new SlowQueries(
      silentLogger,
      () => 500,
      () => 0,
    ),
    monotonic: () => systemClock.monotonic(),
    now: () => 0,
    generations: 1,
    generation() {
      if (generation === null) throw new PortolanError('CACHE_NOT_READY', 'The schema is not known yet; try again.');
      return generation;
    },
  };
  return {
    source,
    leases,
    signals,
    ticks,
    logged,
    log,
    release: () => held.resolve('released'),
    swap(name) {
      generation = generationOf(name, schema(name, held.promise, { counts: ticks, onTick }));
    },
    forget() {
      generation = null;
    },
  };
}

function generationOf(id: string, built: GraphQLSchema): Generation {
  const unused = {
    catalog: { kinds: [] },
    all: [],
    clusters: new Set(),
    diagnostics: [],
    kind: () => undefined,
    kinds: () => [],
  };
  return { ...unused, id, schema: built } as unknown as Generation;
}

function countingReader(leases: HandMade['leases'], signals: HandMade['signals']): Reader {
  const open: Reader['open'] = async (options) => {
    options?.signal?.throwIfAborted();
    leases.opened += 1;
    signals.push(options?.signal);
    let over = false;
    return {
      revision: 7,
      epoch: 'e',
      layoutVersion: 1,
      all: async () => [],
      fill: async () => [],
      end() {
        if (over) return;
        over = true;
        leases.ended += 1;
      },
    };
  };
  return {
    open,
    async lease<T>(work: (lease: Lease) => Promise<T>) {
      const lease = await open();
      try {
        return await work(lease);
      } finally {
        lease.end();
      }
    },
    close: async () => {},
  };
}

interface Ticks {
  readonly counts: HandMade['ticks'];
  readonly onTick: () => void;
}

function schema(name: string, held: Promise<string>, ticks: Ticks): GraphQLSchema {
  const nested: GraphQLObjectType<unknown, OperationContext> = new GraphQLObjectType({
    name: 'Nested',
    fields: () => ({
      nested: { type: nested, resolve: () => ({}) },
      name: { type: GraphQLString, resolve: () => 'n' },
    }),
  });
  const Query = new GraphQLObjectType<unknown, OperationContext>({
    name: 'Query',
    fields: {
      [name]: { type: GraphQLString, resolve: () => 'hello' },
      megabyte: { type: GraphQLString, resolve: () => 'x'.repeat(2 ** 20) },
      nested: { type: nested, resolve: () => ({}) },
      echo: {
        type: GraphQLInt,
        args: { number: { type: new GraphQLNonNull(GraphQLInt) } },
        resolve: (_, { number }) => number,
      },
      revision: {
        type: GraphQLInt,
        resolve: (_, __, { portolan }) => portolan.read(async (lease) => lease.revision),
      },
      held: {
        type: GraphQLString,
        resolve: (_, __, { portolan }) => portolan.read(async () => held),
      },
      refused: {
        type: GraphQLString,
        resolve: () => {
          const details = { kubernetes: { reason: 'Conflict', status: 409 } };
          throw new PortolanError('CONFLICT', 'Read the object again and send the change once more.', { details });
        },
      },
      refusedInGraphQL: {
        type: GraphQLString,
        resolve: () => {
          throw new GraphQLError('gone', { extensions: { code: 'GONE' } });
        },
      },
      defect: {
        type: GraphQLString,
        resolve: () => {
          throw new TypeError('secret of the house');
        },
      },
      oddThrow: {
        type: GraphQLString,
        resolve: () => {
          throw 'a string with a secret';
        },
      },
      tooLarge: { type: GraphQLInt, resolve: () => 2 ** 40 },
      missing: { type: new GraphQLNonNull(GraphQLString), resolve: () => null },
    },
  });
  const Subscription = new GraphQLObjectType<unknown, OperationContext>({
    name: 'Subscription',
    fields: {
      ticks: {
        type: GraphQLInt,
        args: { most: { type: GraphQLInt } },
        resolve: (tick) => tick as number,
        subscribe: (_, { most }: { most?: number | null }) => ticking(most ?? Number.POSITIVE_INFINITY, ticks),
      },
      tears: {
        type: GraphQLInt,
        args: { code: { type: GraphQLString } },
        resolve: (tick) => tick as number,
        subscribe: (_, { code }: { code?: string | null }) => tearing(code === 'SCHEMA_RELOAD'),
      },
      refused: {
        type: new GraphQLList(GraphQLInt),
        subscribe: () => {
          throw new PortolanError('FORBIDDEN', 'Ask for another kind.');
        },
      },
    },
  });
  return new GraphQLSchema({ query: Query, subscription: Subscription });
}

/** Yields 1, 2, 3 … up to `most`; then it ends, or stays silent if it is endless. */
async function* ticking(most: number, { counts, onTick }: Ticks): AsyncGenerator<number> {
  counts.begun += 1;
  try {
    for (let tick = 1; tick <= most; tick += 1) {
      onTick();
      yield tick;
      // An endless stream yields to other work.
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    counts.ended += 1;
  }
}

async function* tearing(ours: boolean): AsyncGenerator<number> {
  yield 1;
  if (ours) throw new PortolanError('SCHEMA_RELOAD', 'The kind is gone; subscribe to another.');
  throw new Error('secret of the feed');
}
