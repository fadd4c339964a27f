/**
 * The store's writer with somebody watching over each call: what it is handed is bounded (I6), each commit shows the server's state (I1, I7) and
 * is told by the log, event by event (I2, I4). Now and then a call fails as a full disk would, before its work or in the middle of it.
 *
 * What is found is kept, not thrown: the reflector would take it for an error of the store and try again.
 */
import { messageOf } from '../../src/base/errors.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import type { ResourceHandle } from '../../src/store/types/progress.ts';
import type { Replace } from '../../src/store/types/writer.ts';
import type { StoreWriter } from '../../src/store/write/writer.ts';
import type { ModelFaults } from './model-faults.ts';
import type { ModelServer } from './model-server.ts';
import { idOf, revisionOf } from './model-storage.ts';
import type { RequestJudge } from './request-judge.ts';
import type { TableOracle } from './table-oracle.ts';

export interface WatchedWriterContext {
  readonly writer: StoreWriter;
  readonly oracle: TableOracle;
  readonly server: ModelServer;
  readonly faults: ModelFaults;
  readonly judge: RequestJudge;
  readonly batchEvents: number;
  readonly findings: string[];
  /** Something takes its time: the thread is held up. */
  readonly stall: () => void;
}

/** Objects that a reflector hands over at a time. */
const mostObjects = 64;

export function watchedWriter(context: WatchedWriterContext): StoreWriter {
  const { writer, oracle, server, faults, findings, stall } = context;
  const held = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      findings.push(messageOf(error));
    }
  };
  const disk = (): void => {
    if (faults.strikes('F40', 60)) stall();
    if (faults.strikes('F42', 60)) throw new Error('database or disk is full');
  };
  const settled = (): void => {
    held(() => void oracle.observe());
  };
  const apply: StoreWriter['apply'] = (handle, events, ...rest) => {
    if (events.length > context.batchEvents) findings.push(`I6: ${events.length} events at once`);
    disk();
    settled();
    const before = writer.state(handle).lastResourceVersion;
    try {
      return writer.apply(handle, events, ...rest);
    } finally {
      held(() => toldOf(context, handle, before));
    }
  };
  const replace: StoreWriter['replace'] = (handle, ...rest) => {
    disk();
    return watchedReplace(writer.replace(handle, ...rest));
  };
  const watchedReplace = (given: Replace): Replace =>
    overlaid(given, {
      put: (objects) => {
        if (objects.length > mostObjects) findings.push(`I6: ${objects.length} objects at once`);
        disk();
        given.put(objects);
        settled();
      },
      commit: async (resourceVersion) => {
        disk();
        try {
          return await given.commit(resourceVersion);
        } finally {
          settled();
        }
      },
    });
  return overlaid(writer, {
    apply,
    replace,
    declare: (described, ...rest) => {
      // Whoever begins anew has not been asked to wait.
      context.judge.forget(resourceKey(described.resource));
      return writer.declare(described, ...rest);
    },
    openCluster: (name, uid) => {
      writer.openCluster(name, uid);
      // Another connection has a budget of its own.
      context.judge.restart();
      if (uid === server.uid && server.confused && server.ceiling === Number.POSITIVE_INFINITY) oracle.understood();
      settled();
    },
  });
}

/** I4: the log has each event of the server between two versions of the table, once, in order, and nothing else. */
function toldOf({ oracle, server, writer }: WatchedWriterContext, handle: ResourceHandle, before: string | null): void {
  const told = oracle.observe();
  const after = writer.state(handle).lastResourceVersion;
  if (server.confused || before === null || after === null) return;
  const events = server.storage.events(handle.key, revisionOf(before), revisionOf(after));
  const unseen = new Set(events.filter(({ hidden }) => hidden).map(({ object }) => object.uid));
  const expected = events
    .filter(({ object }) => !unseen.has(object.uid))
    .map(({ type, object }) => `${type} ${idOf(object)} ${object.uid}@${object.version}`);
  if (told.join('\n') === expected.join('\n')) return;
  throw new Error(
    `I4: between ${before} and ${after} the log tells [${told.join(', ')}], not [${expected.join(', ')}]`,
  );
}

/** The same object with some of its methods exchanged. */
export function overlaid<T extends object>(target: T, overrides: Partial<T>): T {
  return new Proxy(target, {
    get: (_, name) => {
      if (Object.hasOwn(overrides, name)) return Reflect.get(overrides, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
