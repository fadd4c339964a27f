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
  /** Browsers keep the tabs of each of these keys apart. Empty if callers must authenticate: the script then asks the gateway for it. */
  readonly keptFor: string;
  /** May requests ask for explanations? */
  readonly explain: boolean;
  /** Must callers authenticate? Then the script asks for a token when the gateway does. */
  readonly authenticates: boolean;
}

const style = `
[hidden] { display: none !important }
/* GraphiQL keeps outdated transforms on its tabs, so a tab moves at its first click. */
.graphiql-tab { transform: none !important }
.portolan-answer { display: flex; flex-direction: column; gap: 12px; overflow-wrap: anywhere }
.portolan-answer table { border-collapse: collapse }
.portolan-answer th { font-weight: normal; text-align: left; padding: 2px 12px 2px 0 }
.portolan-answer td { text-align: right; font-variant-numeric: tabular-nums }
.portolan-answer h2 { font-size: inherit; margin: 0 }
.portolan-answer pre { margin: 0; white-space: pre-wrap; font-size: 85% }
.portolan-access, .portolan-caller { color-scheme: light dark; background: Canvas; color: CanvasText; font: 15px/1.5 system-ui, sans-serif }
.portolan-access { position: fixed; inset: 0; z-index: 1000; overflow: auto; display: grid; place-items: center; padding: 16px; box-sizing: border-box }
.portolan-access form { display: flex; flex-direction: column; gap: 12px; width: 100%; max-width: 34rem }
.portolan-access :is(h1, p, pre) { margin: 0 }
.portolan-access h1 { font-size: 22px }
.portolan-access pre { overflow-x: auto; padding: 8px 12px; border: 1px solid GrayText; border-radius: 6px }
.portolan-access input { font: inherit; padding: 8px; border: 1px solid GrayText; border-radius: 6px }
.portolan-access [role=alert]:not(:empty) { border-left: 4px solid #c62828; padding-left: 12px; overflow-wrap: anywhere }
.portolan-access label { font-weight: 600 }
.portolan-access div { display: flex; gap: 8px }
.portolan-access button, .portolan-caller button { font: inherit; padding: 4px 12px; cursor: pointer }
.portolan-caller { display: flex; align-items: center; gap: 8px; height: 40px; padding: 0 16px; box-sizing: border-box; border-bottom: 1px solid GrayText }
.portolan-caller button { padding: 2px 12px }
.portolan-caller span { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.portolan-caller ~ #root .graphiql-container { height: calc(100vh - 40px) }
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
