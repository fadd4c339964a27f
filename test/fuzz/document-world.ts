/** A gateway's inside without its sockets: a store with random objects of many kinds, the schema over it, the endpoint. */
import { systemClock } from '../../src/base/clock.ts';
import { type Logger, silentLogger } from '../../src/base/log.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import { pathOf } from '../../src/catalog/tree/path.ts';
import { createEngine, type Engine } from '../../src/graphql/engine.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import { createYogaServer, type Yoga } from '../../src/server/graphql/yoga-server.ts';
import { openReader } from '../../src/store/read/reader.ts';
import { Dice } from './dice.ts';
import { focusOn, placeIn } from './focus.ts';
import { fuzzedKinds } from './kinds.ts';
import { clusters, identities, objectOf } from './random-objects.ts';
import { openScratchStore } from './scratch-store.ts';

export interface DocumentWorld {
  readonly engine: Engine;
  readonly yoga: Yoga;
  /** Texts that mean something here: what random documents take arguments from. */
  readonly known: {
    readonly paths: readonly string[];
    readonly ids: readonly string[];
    readonly kinds: readonly string[];
  };
  /** What was logged as a defect. */
  readonly defects: string[];
  close(): Promise<void>;
}

const mostCrds = 10;

export async function openDocumentWorld(seed: number): Promise<DocumentWorld> {
  const dice = new Dice(seed);
  const kinds = await fuzzedKinds(dice, mostCrds);
  const store = openScratchStore();
  const defects: string[] = [];
  const log: Logger = {
    ...silentLogger,
    error: (fields, message) => void defects.push(`${message}: ${JSON.stringify(fields)}`),
    child: () => log,
  };
  const reader = openReader(store.file, { readers: 2, waitMs: 60_000, log });
  const engine = createEngine({ reader, log, clock: systemClock, maxPageSize: 500 });
  store.writer.onCommit((commit) => engine.wake(commit));
  const paths = new Set(['cluster', 'id', 'health.status', 'health.reason']);
  const ids: string[] = [];
  const { writer } = store;
  for (const described of kinds) {
    const focus = focusOn(described.tree, dice);
    for (let count = 0; count < 8; count++) {
      paths.add(pathOf(placeIn(focus, dice, { each: dice.chance(0.5), container: dice.chance(0.2) }).steps).text);
    }
    const made = identities(dice, dice.between(0, 30), described.resource.namespaced);
    for (const cluster of clusters) {
      writer.openCluster(cluster, `uid-${cluster}`);
      const handle = writer.declare({ ...described, cluster });
      // Some are not synced: what CACHE_NOT_READY is about.
      if (dice.chance(0.1)) continue;
      const own = made.filter((identity) => identity.cluster === cluster);
      const replace = writer.replace(handle);
      replace.put(own.map((identity, at) => ({ text: objectOf(focus, identity, `uid-${cluster}-${at}`, dice).text })));
      await replace.commit('1');
      const key = resourceKey(described.resource);
      for (const { namespace, name } of own.slice(0, 3)) ids.push(encodeObjectId({ cluster, key, namespace, name }));
    }
  }
  await engine.refreshCatalog();
  return {
    engine,
    yoga: createYogaServer({ source: engine.source, log }),
    known: { paths: [...paths], ids, kinds: kinds.map(({ resource }) => resourceKey(resource)) },
    defects,
    async close() {
      engine.close();
      await reader.close();
      store.close();
    },
  };
}
