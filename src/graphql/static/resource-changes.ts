/**
 * `resourceChanges`: which resources there are, and every change of this list. A console keeps its navigation true with it.
 *
 *   SNAPSHOT … SYNCED -> a resource is added, removed, synced, refused or has another schema -> LIVE
 *
 * The state of ingest is not in the change log. So there is no cursor, and a subscription that begins again begins with a snapshot. The
 * states are read after commits, at most once in a second, and from time to time without any: a refusal commits nothing.
 *
 * A new generation ends the list, and src/graphql/generation/subscribe.ts begins it again. The list hands its states over, so the client
 * gets the differences alone.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { requireValid } from '../../access/caller.ts';
import { partIn } from '../../access/scope.ts';
import type { LiveStart } from '../../live/list/live-request.ts';
import type { Operation } from '../../operation/operation.ts';
import type { View } from '../../query/sql/view.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import type { ResourceProgress } from '../../store/types/progress.ts';
import type { Builder } from '../builder/builder.ts';
import type { ResourceSource } from '../builder/resource-source.ts';
import { eventStream } from '../generation/event-stream.ts';
import { GenerationMoved } from '../generation/generation-moved.ts';
import { resourceSelection, resourceSource, sortedResources } from './resources.ts';
import { visibleProgress } from './visible-progress.ts';

interface ResourceChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'REMOVED';
  readonly id: string;
  /** Null when REMOVED. */
  readonly resource: ResourceSource | null;
}

interface ResourceMessage {
  readonly phase: 'SNAPSHOT' | 'SYNCED' | 'LIVE';
  readonly reset: boolean;
  readonly changes: readonly ResourceChange[];
}

/** The state of each resource that a client has, as text, by its id. */
type Known = ReadonlyMap<string, string>;

type Selection = ReturnType<typeof resourceSelection>;

/** Resources in one SNAPSHOT message. */
const snapshotChunk = 100;
/** Milliseconds between two reads: at least, and at most without a commit. */
const lookMs = { least: 1000, most: 5000 };

/** The states of lists that a generation ended, by the start that it gave them. */
const handedOver = new WeakMap<LiveStart, Known>();

/** Adds the subscription. The type Resource is in resources.ts. */
export function addResourceChanges(builder: Builder): void {
  const change = builder.objectRef<ResourceChange>('ResourceChange').implement({
    description: 'A change of the list of resources.',
    fields: (t) => ({
      type: t.field({ type: 'ChangeType' as never, nullable: false, resolve: ({ type }) => type as never }),
      id: t.exposeID('id', { nullable: false, description: 'Made of cluster and key.' }),
      resource: t.field({
        type: 'Resource',
        description: 'Null when REMOVED.',
        resolve: ({ resource }) => resource,
      }),
    }),
  });
  const message = builder.objectRef<ResourceMessage>('ResourceChanges').implement({
    description: 'A message about the list of resources.',
    fields: (t) => ({
      phase: t.field({ type: 'ChangePhase' as never, nullable: false, resolve: ({ phase }) => phase as never }),
      reset: t.exposeBoolean('reset', { nullable: false, description: 'Drop what you hold first.' }),
      changes: t.field({
        type: [change],
        nullable: { list: false, items: false },
        resolve: ({ changes }) => [...changes],
      }),
    }),
  });
  builder.subscriptionType({});
  builder.subscriptionField('resourceChanges', (t) =>
    t.field({
      type: message,
      nullable: false,
      description:
        'The resources, and then each one that is added, removed, synced, refused, or has another schema. Counts and times of resources are those of the message.',
      args: {
        kinds: t.arg.stringList({ description: 'As in `objects(kinds:)`.' }),
        clusters: t.arg.stringList({}),
      },
      subscribe: (_root, args, { portolan }) => {
        const selection = resourceSelection(portolan, args);
        return eventStream(
          portolan.signal,
          (signal) => messages(portolan, selection, signal),
          (each) => each,
        );
      },
      resolve: (each) => each,
    }),
  );
}

async function* messages(
  operation: Operation,
  selection: Selection,
  signal: AbortSignal,
): AsyncGenerator<ResourceMessage, void, undefined> {
  const { source, generation, caller, liveStart } = operation;
  const { commits } = source;
  let known = (liveStart === null ? undefined : handedOver.get(liveStart)) ?? null;
  while (!signal.aborted && !commits.closed) {
    const { wakes } = commits;
    requireValid(caller, source.now());
    if (source.generation() !== generation) {
      const start: LiveStart = { at: 'snapshot' };
      if (known !== null) handedOver.set(start, known);
      throw new GenerationMoved('resourceChanges', start);
    }
    const found = await read(operation.detached(), selection, known);
    if (signal.aborted) return;
    if (found !== null) {
      if (known === null) yield* snapshot(found.changes);
      else yield { phase: 'LIVE', reset: false, changes: found.changes };
      known = found.known;
    }
    await sleep(lookMs.least, null, { signal }).catch(() => {});
    await commits.changed(wakes, AbortSignal.any([signal, AbortSignal.timeout(lookMs.most)]));
  }
}

function* snapshot(changes: readonly ResourceChange[]): Generator<ResourceMessage, void, undefined> {
  for (let from = 0; from < changes.length; from += snapshotChunk) {
    yield { phase: 'SNAPSHOT', reset: from === 0, changes: changes.slice(from, from + snapshotChunk) };
  }
  yield { phase: 'SYNCED', reset: changes.length === 0, changes: [] };
}

/** The resources that differ from the known states; all resources without any. Null if nothing does. */
function read(
  operation: Operation,
  { isWanted }: Selection,
  known: Known | null,
): Promise<{ readonly known: Known; readonly changes: readonly ResourceChange[] } | null> {
  return operation.readCells(async (cells) => {
    const read = await Promise.all(
      cells.map(async ({ lease, view }) =>
        (await readResourceProgress(lease)).filter((state) => isWanted(state) && isSeen(view, state)),
      ),
    );
    const wanted = read.flat();
    const now: Known = new Map(wanted.map((state) => [idOf(state), textOf(operation, state)]));
    const removed = [...(known ?? new Map<string, string>()).keys()].filter((id) => !now.has(id));
    const others = new Set([...now].flatMap(([id, text]) => (known?.get(id) === text ? [] : id)));
    if (known !== null && removed.length + others.size === 0) return null;
    const states = await Promise.all(
      cells.map(async ({ operation: cell, lease, view }) => {
        const shown = others.size === 0 ? [] : await visibleProgress(cell, lease, view);
        return shown.map((state) => resourceSource(cell, state, view));
      }),
    );
    const changes = sortedResources(states.flat()).flatMap((resource): ResourceChange[] => {
      const id = idOf(resource.state);
      return others.has(id) ? [{ type: known?.has(id) === true ? 'MODIFIED' : 'ADDED', id, resource }] : [];
    });
    const gone = removed.map((id): ResourceChange => ({ type: 'REMOVED', id, resource: null }));
    return { known: now, changes: [...gone, ...changes] };
  });
}

function idOf({ cluster, key }: Pick<ResourceProgress, 'cluster' | 'key'>): string {
  return Buffer.from(JSON.stringify([cluster, key])).toString('base64url');
}

/** Equal texts mean that a client need not know. */
function textOf({ generation }: Operation, { key, synced, status }: ResourceProgress): string {
  const kind = generation.kind(key);
  return JSON.stringify([synced, status.phase === 'PARKED', kind?.names.type ?? null, kind?.shapeHash ?? null]);
}

/** Does the caller see some of its objects? As in visible-progress.ts. */
function isSeen(view: View, { cluster, key }: ResourceProgress): boolean {
  return partIn(view.scopeOf(key, 'list'), cluster) !== null;
}
