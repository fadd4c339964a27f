/**
 * The page of the playground. It holds what it tells its script; everything else is in parts (parts.ts), which it loads when they are
 * needed.
 */
import { partOf } from '../negotiation/playground-request.ts';

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

/** The styles of the page's own elements. */
export const pageStyle = `
[hidden] { display: none !important }
/* GraphiQL keeps outdated transforms on its tabs, so a tab moves at its first click. */
.graphiql-tab { transform: none !important }
body { margin: 0 }
.portolan-loading { font: 15px/1.5 system-ui, sans-serif; color-scheme: light dark; padding: 16px; margin: 0 }
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

/** A compass rose. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M8 0l2 6 6 2-6 2-2 6-2-6-6-2 6-2z" fill="#2b6cb0"/></svg>',
)}`;

/** Content-Security-Policy of the page: code, styles and connections of this gateway only, and no embedding in frames. */
export const pageRules = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  // GraphiQL and its editor set styles of elements.
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

/** The page. Its script finds the options in the element `portolan-options`. */
export function renderPage(options: PageOptions): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width" />
<title>Portolan</title>
<link rel="icon" href="${icon}" />
<link rel="stylesheet" href="${partOf}page.css" />
<script type="application/json" id="portolan-options">${asData(options)}</script>
<script defer src="${partOf}page.js"></script>
</head>
<body class="no-focus-outline">
<noscript>The playground needs JavaScript.</noscript>
<div id="root"></div>
</body>
</html>
`;
}

/** A value as JSON inside a script element. A `</script>` in a text would end that element. */
function asData(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', String.raw`\u003c`);
}
