/**
 * The page of the playground: GraphiQL with the script of `playground/`, all in one document.
 *
 * @graphql-yoga/render-graphiql has GraphiQL with its workers as texts. Its own page cannot take functions (a fetcher, plugins), so
 * this is another page around the same texts.
 */
import type * as graphiql from '@graphql-yoga/render-graphiql/graphiql';

type GraphiQLTexts = Pick<
  typeof graphiql,
  'css' | 'js' | 'favicon' | 'editorWorkerService' | 'jsonWorker' | 'graphqlWorker'
>;

/** What the script of the page is told. It is JSON. */
export interface PageOptions {
  /** The documents of the first tabs. Without any, GraphiQL shows its own welcome text. */
  readonly tabs: readonly string[];
  /** Browsers keep the tabs for each of these texts. */
  readonly keptFor: string;
  /** May requests ask for explanations? */
  readonly explain: boolean;
}

const style = `
/* GraphiQL keeps outdated transforms on its tabs, so a tab moves at its first click. */
.graphiql-tab { transform: none !important }
.portolan-answer { display: flex; flex-direction: column; gap: 12px; overflow-wrap: anywhere }
.portolan-answer table { border-collapse: collapse }
.portolan-answer th { font-weight: normal; text-align: left; padding: 2px 12px 2px 0 }
.portolan-answer td { text-align: right; font-variant-numeric: tabular-nums }
.portolan-answer h2 { font-size: inherit; margin: 0 }
.portolan-answer pre { margin: 0; white-space: pre-wrap; font-size: 85% }
`;

/** A function that renders the page. It is called for each page; what it does not depend on is made once. */
export function pageRenderer(texts: GraphiQLTexts, script: string): (options: PageOptions) => string {
  const { css, favicon, editorWorkerService, jsonWorker, graphqlWorker } = texts;
  const beginning = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<title>Portolan</title>
<link rel="icon" href="${favicon}" />
<style>
${css}
${style}
</style>
</head>
<body class="no-focus-outline">
<noscript>The playground needs JavaScript.</noscript>
<div id="root"></div>
<script>
const workers = Object.fromEntries(
  Object.entries({
    editorWorkerService: ${asScript(editorWorkerService)},
    json: ${asScript(jsonWorker)},
    graphql: ${asScript(graphqlWorker)},
  }).map(([label, text]) => [label, URL.createObjectURL(new Blob([text], { type: 'text/javascript' }))]),
);
self.MonacoEnvironment = { globalAPI: true, getWorkerUrl: (_module, label) => workers[label] };
${withPlugins(texts.js)}
${script}
PortolanPlayground.start(document.querySelector('#root'),
`;
  const end = `
);
</script>
</body>
</html>
`;
  return (options) => `${beginning}${asScript(options)}${end}`;
}

/** A value as an expression inside a script element. A `</script>` in a text would end that element. */
function asScript(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}

/**
 * GraphiQL takes a list of plugins, but the package sets it to its Explorer, and the option `plugins` would replace the Explorer. So the
 * page's plugins are added to that list. If a version of the package has no such list, the page shows no plugins of its own.
 */
export function withPlugins(js: string): string {
  return js.replace(
    /plugins:\[([\w$]+)\],schemaDescription:/,
    'plugins:[$1,...globalThis.PortolanPlayground.plugins],schemaDescription:',
  );
}
