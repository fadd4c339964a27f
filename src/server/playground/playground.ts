/**
 * The playground: GraphiQL in one self-contained page, so that it works without access to any other server. Its tabs are examples for
 * the current generation, so the page is rendered for each request.
 *
 * Invariant: if callers must authenticate, the page is the same for everybody and has nothing of the clusters. A browser requests it
 * without credentials.
 */
import { codeOf } from '../../base/errors.ts';
import type { Generation, GraphQLSource } from '../../graphql/generation/generation.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import { builtInExamples, exampleTabs, type ObjectsOfKinds, type PlaygroundExample } from './example-tabs.ts';
import { type PageOptions, pageRenderer } from './page.ts';

export interface PlaygroundOptions {
  readonly source: GraphQLSource;
  readonly written: readonly PlaygroundExample[];
  /** Must callers authenticate? */
  readonly authenticates: boolean;
}

/**
 * A function that resolves to the page. GraphiQL is loaded at the first call, because loading its 9 MB of source would slow every
 * start.
 */
export function playground(options: PlaygroundOptions): () => Promise<string> {
  let loading: ReturnType<typeof load> | null = null;
  return async () => {
    loading ??= load();
    const [render, given] = await Promise.all([loading, pageOptions(options)]);
    return render(given);
  };
}

async function load(): Promise<(options: PageOptions) => string> {
  const [texts, { script }] = await Promise.all([
    import('@graphql-yoga/render-graphiql/graphiql'),
    import('../generated/playground-script.ts'),
  ]);
  return pageRenderer(texts, script);
}

/** Tabs that a browser kept would hide the examples of another cluster on the same port, so it keeps tabs for each set of clusters. */
async function pageOptions({ source, written, authenticates }: PlaygroundOptions): Promise<PageOptions> {
  const { explain } = source.diagnosis;
  if (authenticates) return { tabs: builtInExamples(written), keptFor: '', explain, authenticates };
  const generation = currentGeneration(source);
  if (generation === null) return { tabs: [], keptFor: '', explain, authenticates };
  const tabs = exampleTabs(written, generation, await objectsOfKinds(source));
  return { tabs, keptFor: [...generation.clusters].join(','), explain, authenticates };
}

/** Null before the first generation. */
function currentGeneration(source: GraphQLSource): Generation | null {
  try {
    return source.generation();
  } catch (error) {
    if (codeOf(error) === 'CACHE_NOT_READY') return null;
    throw error;
  }
}

/** Without numbers while the store cannot be read: the page must not depend on it. */
async function objectsOfKinds({ reader }: GraphQLSource): Promise<ObjectsOfKinds> {
  const sums = new Map<string, number>();
  for (const { key, objects } of await reader.lease(readResourceProgress).catch(() => [])) {
    sums.set(key, (sums.get(key) ?? 0) + objects);
  }
  return sums;
}
