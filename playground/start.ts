/**
 * The script of the playground's page. `npm run playground` bundles it into src/server/generated/playground-script.ts.
 */
import { AnswerPanel } from './answer-panel.ts';
import { CallerAccess } from './caller-access.ts';
import { anybody, createFetcher } from './fetcher.ts';
import { graphiql, type Plugin } from './graphiql.ts';
import { keptTabs } from './kept-tabs.ts';
import { PathCompletion } from './path-completion.ts';

/** What the gateway writes into the page (src/server/playground/page.ts). */
interface PageOptions {
  readonly tabs: readonly string[];
  readonly keptFor: string;
  readonly explain: boolean;
  readonly authenticates: boolean;
}

const panel = new AnswerPanel();

/** The page adds them to GraphiQL's own. */
export const plugins: readonly Plugin[] = [panel.plugin];

/** Shows GraphiQL in an element of the page, when the gateway accepts the caller. */
export async function start(root: HTMLElement, options: PageOptions): Promise<void> {
  const { tabs, explain, authenticates } = options;
  panel.offersExplain = explain;
  const endpoint = new URL(location.pathname, location.href).href;
  const access = authenticates ? new CallerAccess(endpoint, root, sessionStorage) : null;
  const keptFor = access === null ? options.keptFor : await access.enter();
  const fetcher = createFetcher(endpoint, access ?? anybody);
  const completion = new PathCompletion(fetcher);
  graphiql.renderYogaGraphiQL(root, {
    title: 'Portolan',
    fetcher: panel.watching(fetcher),
    storage: keptTabs(localStorage, keptFor),
    ...(tabs.length === 0 ? {} : { defaultTabs: tabs.map((query) => ({ query })) }),
    // Headers may have credentials.
    ...(authenticates ? { shouldPersistHeaders: false } : {}),
    onSchemaChange: (schema) => completion.setSchema(schema),
  });
}
