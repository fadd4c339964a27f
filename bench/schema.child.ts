/**
 * The gateway of bench/schema.ts: an engine and the real server over a store that the parent process writes.
 *
 *   argv: store file -> message: { url } -> orders, each answered by a message -> disconnect
 */
import { once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { must } from '../src/base/must.ts';
import { runSteps } from '../src/base/steps.ts';
import { CatalogAssembler } from '../src/catalog/assemble.ts';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import type { Generation } from '../src/graphql/generation/generation.ts';
import { GenerationBuilder } from '../src/graphql/schema/build-generation.ts';
import { readDescriptionRows, readDescriptionTexts } from '../src/store/read/catalog-rows.ts';
import { type LongestTurn, threadCpuMs, watchTurns } from './support/loop-turns.ts';
import { serveStore } from './support/serve-store.ts';

/**
 * `refresh`: publishes the store's catalog. `watch` and `unwatch`: the turns between them. `build`: builds all descriptions from nothing,
 * in one piece. `heap`: the heap in use with the last two generations, and with two that share nothing.
 */
export type SchemaOrder = 'refresh' | 'watch' | 'unwatch' | 'build' | 'heap';

export interface Refreshed {
  readonly kinds: number;
  /** From the order until the generation was published. */
  readonly publishedMs: number;
  readonly publishedCpuMs: number;
}

export interface Built {
  readonly elapsedMs: number;
  readonly cpuMs: number;
}

export interface Heap {
  readonly sharedMb: number;
  readonly apartMb: number;
}

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const [file = ''] = process.argv.slice(2);
const served = await serveStore(file, { prepared: false });
const { engine, reader } = served;

/** The last two generations, both alive. */
let alive: readonly Generation[] = [engine.source.generation()];
let unwatch: (() => LongestTurn) | null = null;

async function refresh(): Promise<Refreshed> {
  const [began, cpu] = [performance.now(), threadCpuMs()];
  await engine.refreshCatalog();
  const [publishedMs, publishedCpuMs] = [performance.now() - began, threadCpuMs() - cpu];
  const generation = engine.source.generation();
  alive = [must(alive.at(-1), 'a generation'), generation];
  return { kinds: generation.catalog.kinds.length, publishedMs, publishedCpuMs };
}

async function build(): Promise<Built> {
  const described = await reader.lease(
    async (lease) => {
      const rows = await readDescriptionRows(lease);
      return [...(await readDescriptionTexts(lease, rows)).values()].map(
        (text) => JSON.parse(text) as DescribedResource,
      );
    },
    { timeoutMs: 30_000 },
  );
  const [began, cpu] = [performance.now(), threadCpuMs()];
  runSteps(new GenerationBuilder().build(runSteps(new CatalogAssembler().assemble(described))));
  return { elapsedMs: performance.now() - began, cpuMs: threadCpuMs() - cpu };
}

function heap(): Heap {
  const inUse = (): number => {
    collectGarbage();
    return process.memoryUsage().heapUsed / 1e6;
  };
  const sharedMb = inUse();
  const { catalog } = must(alive.at(-1), 'a generation');
  alive = [...alive.slice(1), runSteps(new GenerationBuilder().build(catalog))];
  return { sharedMb, apartMb: inUse() };
}

process.on('message', async (order: SchemaOrder) => {
  switch (order) {
    case 'refresh':
      process.send?.(await refresh());
      break;
    case 'watch':
      unwatch = watchTurns();
      process.send?.(null);
      break;
    case 'unwatch':
      process.send?.(must(unwatch, 'turns are watched')());
      break;
    case 'build':
      process.send?.(await build());
      break;
    case 'heap':
      process.send?.(heap());
  }
});
process.send?.({ url: served.url });
await once(process, 'disconnect');
await served.close();
