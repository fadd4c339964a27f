/**
 * The script of the playground's page. `npm run playground` bundles it into src/server/generated/playground-script.ts.
 */
import { AnswerPanel } from './answer-panel.ts';
import { createFetcher } from './fetcher.ts';
import { graphiql, type Plugin } from './graphiql.ts';
import { keptTabs } from './kept-tabs.ts';
import { PathCompletion } from './path-completion.ts';

/** What the gateway writes into the page (src/server/playground/page.ts). */
interface PageOptions {
  readonly tabs: readonly string[];
  readonly keptFor: string;
  readonly explain: boolean;
}

const panel = new AnswerPanel();

/** The page adds them to GraphiQL's own. */
export const plugins: readonly Plugin[] = [panel.plugin];

/** Shows GraphiQL in an element of the page. */
export function start(root: unknown, { tabs, keptFor, explain }: PageOptions): void {
  panel.offersExplain = explain;
  const fetcher = createFetcher(new URL(location.pathname, location.href).href);
  const completion = new PathCompletion(fetcher);
  graphiql.renderYogaGraphiQL(root, {
    title: 'Portolan',
    fetcher: panel.watching(fetcher),
    storage: keptTabs(localStorage, keptFor),
    ...(tabs.length === 0 ? {} : { defaultTabs: tabs.map((query) => ({ query })) }),
    onSchemaChange: (schema) => completion.setSchema(schema),
  });
}
