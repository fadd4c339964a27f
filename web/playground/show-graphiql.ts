/**
 * Shows GraphiQL with the panels of examples and costs, the bar below the result, and the completion of paths. It restores the tabs that
 * the browser kept for these clusters. It is the module of the part graphiql.js.
 *
 * GraphiQL loads Monaco when it is rendered, and prettier when a person formats a document. In deploy/compile-playground.ts they become
 * parts, and GraphiQL's imports become calls of `portolanPart`. Monaco and the Explorer get objects of the packages that are in this
 * part, so they use these copies.
 */
import { HISTORY_PLUGIN } from '@graphiql/plugin-history';
import * as graphiqlReact from '@graphiql/react';
import { GraphiQL, type GraphiQLProps } from 'graphiql';
import * as graphql from 'graphql';
import * as react from 'react';
import * as jsxRuntime from 'react/jsx-runtime';
import { createRoot } from 'react-dom/client';
import { element } from './element.ts';
import { type Caller, createFetcher } from './fetcher.ts';
import { keptTabs } from './kept-tabs.ts';
import { AnswerBar } from './panels/answer-bar.ts';
import { answerPlugin } from './panels/answer-panel.ts';
import { examplesPlugin, examplesTitle } from './panels/examples-plugin.ts';
import { explorerPlugin } from './panels/explorer-plugin.ts';
import { LastAnswer } from './panels/last-answer.ts';
import { manifestPlugin } from './panels/manifest-plugin.ts';
import { ProfileChoice } from './panels/profile-choice.ts';
import { PathCompletion } from './path-completion.ts';

declare global {
  function portolanPart(name: 'explorer.js'): Promise<typeof import('./parts/explorer.ts')>;
  function portolanPart(name: 'manifest.js'): Promise<typeof import('./parts/manifest.ts')>;
  var portolanPackages: Readonly<Record<string, unknown>>;
}

/** Options that the gateway writes into the page (src/server/playground/page.ts). */
export interface PageOptions {
  readonly examples: readonly string[];
  readonly keptFor: string;
  readonly profiles: readonly string[];
  readonly explain: boolean;
  readonly authenticates: boolean;
}

globalThis.portolanPackages = {
  '@graphiql/react': graphiqlReact,
  graphql,
  react,
  'react/jsx-runtime': jsxRuntime,
};

const { createElement: h, useEffect } = react;

const workers: Readonly<Record<string, string>> = {
  json: 'json-worker.js',
  graphql: 'graphql-worker.js',
  yaml: 'yaml-worker.js',
};

/** The least width of a window that shows the list of examples beside both editors. */
const wide = 1200;

/** @param endpoint the URL of the gateway's endpoint. */
export function showGraphiql(root: Element, endpoint: string, caller: Caller, options: PageOptions): void {
  const { examples, keptFor, profiles, explain, authenticates } = options;
  const isShown = Promise.withResolvers<void>();
  // On a slow line the editor takes seconds, and must not delay the interface.
  globalThis.portolanPart = async (name: string) => {
    await isShown.promise;
    return import(`${endpoint}?playground=${name}`).catch((error: unknown) => {
      const message = 'A part of the page could not be loaded from the gateway. Load the page again.';
      root.before(element('p', { className: 'portolan-loading', role: 'alert' }, message));
      throw error;
    });
  };
  window.MonacoEnvironment = {
    getWorker: (_module, label) => new Worker(`${endpoint}?playground=${workers[label] ?? 'editor-worker.js'}`),
  };
  const page = new URL(location.href);
  const profile = page.searchParams.get('profile');
  const fetcher = createFetcher(
    profile === null ? endpoint : `${endpoint}?profile=${encodeURIComponent(profile)}`,
    caller,
  );
  const completion = new PathCompletion(fetcher);
  const last = new LastAnswer();
  const storage = keptTabs(localStorage, keptFor, !authenticates);
  const isFirstVisit = storage.getItem('graphiql:tabState') === null;
  const query = page.searchParams.get('query');

  /** GraphiQL renders it as a part of its interface, where the state of the editor can be read. */
  const Title = (): react.ReactElement => {
    const monaco = graphiqlReact.useMonaco((state) => state.monaco);
    useEffect(() => isShown.resolve(), []);
    useEffect(() => {
      const registered = monaco === undefined ? null : completion.register(monaco);
      return () => registered?.dispose();
    }, [monaco]);
    const active = graphiqlReact.useGraphiQL((state) => state.tabs[state.activeTabIndex]?.id);
    useEffect(() => {
      document.querySelector('.graphiql-tab-active')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
      last.leaveTab();
    }, [active]);
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')?.href;
    return h(
      'div',
      { className: 'portolan-title' },
      profiles.length === 0 && profile === null ? null : h(ProfileChoice, { profiles, chosen: profile }),
      h('img', { src: icon, alt: '' }),
      'Portolan',
    );
  };

  // A link with a query opens that query, in a tab of its name.
  const first = query ?? examples[0];
  const props: GraphiQLProps = {
    // GraphiQL passes an observer to `subscribe`. Its type has other forms too.
    fetcher: last.watching(fetcher) as GraphiQLProps['fetcher'],
    plugins: [
      examplesPlugin(examples),
      explorerPlugin,
      manifestPlugin(fetcher),
      HISTORY_PLUGIN,
      answerPlugin(last, explain),
    ],
    ...(isFirstVisit && innerWidth >= wide ? { visiblePlugin: examplesTitle } : {}),
    storage,
    // Headers may have credentials.
    shouldPersistHeaders: !authenticates,
    schemaDescription: true,
    inputValueDeprecation: true,
    defaultEditorToolsVisibility: true,
    ...(query === null ? {} : { initialQuery: query }),
    ...(first === undefined ? {} : { defaultTabs: [{ query: first }] }),
    onEditQuery(document) {
      page.searchParams.set('query', document);
      history.replaceState({}, '', page);
    },
    onSchemaChange: (schema) => completion.setSchema(schema),
  };
  const bar = h(AnswerBar, { last, endpoint, authenticates: authenticates || caller.authorization() !== null });
  createRoot(root).render(h(GraphiQL, props, h(GraphiQL.Logo, null, h(Title)), h(GraphiQL.Footer, null, bar)));
}
