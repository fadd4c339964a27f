/**
 * The playground: GraphiQL in a page that loads nothing from any other server, with examples for the current generation.
 *
 * The page needs no credentials, so no caller is charged for it. All browsers share one page and its parts, and the page is made again
 * at most every `keptMs`.
 *
 * Invariant: if callers must authenticate, the page is the same for everybody and has nothing of the clusters. A browser requests it
 * without credentials.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import type { Generation, GraphQLSource } from '../../graphql/generation/generation.ts';
import { readResourceProgress } from '../../store/read/resource-progress.ts';
import { opensPlayground, partAsked } from '../negotiation/playground-request.ts';
import { SharedBody } from '../negotiation/shared-body.ts';
import {
  builtInExamples,
  examplesFor,
  type ObjectsOfKinds,
  offeredExamples,
  type PlaygroundExample,
} from './examples.ts';
import { type PageOptions, pageRules, renderPage } from './page.ts';
import { PlaygroundParts } from './parts.ts';

interface PlaygroundOptions {
  readonly source: GraphQLSource;
  readonly written: readonly PlaygroundExample[];
  /** The folder of the parts. */
  readonly folder: string;
  /** The names of the profiles. */
  readonly profiles: () => readonly string[];
  /** Must callers authenticate? */
  readonly authenticates: boolean;
  readonly clock: Clock;
}

/** Milliseconds for which a page is kept. */
const keptMs = 2000;

const pageHeaders = { 'content-security-policy': pageRules, 'referrer-policy': 'no-referrer' };

export class Playground {
  readonly #options: PlaygroundOptions;
  readonly #parts: PlaygroundParts;
  #page: Promise<SharedBody> | null = null;
  #madeAt = 0;

  constructor(options: PlaygroundOptions) {
    this.#options = options;
    this.#parts = new PlaygroundParts(options.folder);
  }

  /** Answers a request for the page or one of its parts; null for every other request to the endpoint. */
  answer(request: IncomingMessage, response: ServerResponse): Promise<void> | null {
    const part = partAsked(request);
    if (part !== null) return this.#sendPart(part, request, response);
    return opensPlayground(request) ? this.#sendPage(request, response) : null;
  }

  async #sendPage(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await this.#parts.areThere()) return (await this.#currentPage()).send(request, response);
    response
      .writeHead(503, { 'content-type': 'text/plain; charset=utf-8' })
      .end('The playground is not bundled. Run npm run playground, then load this page again.\n');
  }

  async #sendPart(name: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const part = await this.#parts.find(name);
    if (part !== null) return part.send(request, response);
    response.writeHead(404, { 'content-type': 'text/plain; charset=utf-8' }).end('The playground has no such part.\n');
  }

  /** Callers that come while the page is made wait for that one. */
  #currentPage(): Promise<SharedBody> {
    const now = this.#options.clock.monotonic();
    if (this.#page === null || now - this.#madeAt >= keptMs) {
      this.#madeAt = now;
      this.#page = pageOptions(this.#options).then(
        (options) => new SharedBody(renderPage(options), { type: 'text/html; charset=utf-8', headers: pageHeaders }),
      );
      this.#page.catch(() => {
        this.#page = null;
      });
    }
    return this.#page;
  }
}

/** Tabs that a browser kept would hide the examples of another cluster on the same port, so it keeps tabs for each set of clusters. */
async function pageOptions({ source, written: all, profiles, authenticates }: PlaygroundOptions): Promise<PageOptions> {
  const written = offeredExamples(all, { writes: source.writes !== null, authenticates });
  const told = { profiles: authenticates ? [] : profiles(), explain: source.diagnosis.explain, authenticates };
  if (authenticates) return { examples: builtInExamples(written), keptFor: '', ...told };
  const generation = currentGeneration(source);
  if (generation === null) return { examples: [], keptFor: '', ...told };
  const examples = examplesFor(written, generation, await objectsOfKinds(source));
  return { examples, keptFor: [...generation.clusters].join(','), ...told };
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
