/**
 * The page of the playground. It holds what it tells its script; everything else is in parts (parts.ts), which it loads when they are
 * needed.
 */
import { partOf } from '../negotiation/playground-request.ts';

/** The options that the page passes to its script, as JSON. */
export interface PageOptions {
  /** Documents. The first one is in a tab, all are in a list. Without any, GraphiQL shows its own welcome text. */
  readonly examples: readonly string[];
  /** Browsers keep the tabs of each of these keys apart. Empty if callers must authenticate: the script then asks the gateway for it. */
  readonly keptFor: string;
  /** The names of the profiles. Empty if callers must authenticate, because an operator may have named them after the hidden kinds. */
  readonly profiles: readonly string[];
  /** May requests ask for explanations? */
  readonly explain: boolean;
  /** Must callers authenticate? Then the script asks for a token when the gateway does. */
  readonly authenticates: boolean;
}

/** A compass rose: four long points and four short ones, each with a light and a dark half, so that it shows on any background. */
const icon = `data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${[
    [45, 7, 12],
    [0, 0, 12.5],
  ]
    .flatMap(([turn = 0, tip, side]) => [0, 90, 180, 270].map((angle) => ({ angle: angle + turn, tip, side })))
    .map(
      ({ angle, tip, side }) =>
        `<g transform="rotate(${angle} 16 16)"><path d="M16 ${tip}V16L${side} ${side}z" fill="#7fb2e5"/>` +
        `<path d="M16 ${tip}V16L${32 - (side ?? 0)} ${side}z" fill="#1f5c99"/></g>`,
    )
    .join('')}</svg>`,
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
<script type="module" src="${partOf}page.js"></script>
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
