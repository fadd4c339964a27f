/**
 * The script of the playground's page. `npm run playground` bundles it into src/server/generated/playground-script.ts.
 */
import { AnswerPanel } from './answer-panel.ts';
import { CallerAccess } from './caller-access.ts';
import { element } from './element.ts';
import { anybody, createFetcher } from './fetcher.ts';
import { loadGraphiql, type Plugin } from './graphiql.ts';
import { keptTabs } from './kept-tabs.ts';
import { PathCompletion } from './path-completion.ts';
import { messageOf } from './post.ts';

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

void start();

/** Shows GraphiQL when the gateway accepts the caller. */
async function start(): Promise<void> {
  const [root, given] = ['root', 'portolan-options'].map((id) => document.getElementById(id));
  if (root == null || given == null) throw new Error('the page has not the elements of its script');
  const options = JSON.parse(given.textContent ?? '') as PageOptions;
  const { tabs, explain, authenticates } = options;
  panel.offersExplain = explain;
  const endpoint = new URL(location.pathname, location.href).href;
  const access = authenticates ? new CallerAccess(endpoint, root, sessionStorage) : null;
  const keptFor = access === null ? options.keptFor : await access.enter();
  const progress = element('p', { className: 'portolan-loading', role: 'status' }, 'Loading the editor …');
  root.before(progress);
  try {
    const graphiql = await loadGraphiql();
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
    progress.remove();
  } catch (error) {
    progress.textContent = messageOf(error);
    progress.role = 'alert';
  }
}
