/**
 * Bundles the parts of the playground's page. No part imports another one by a path: the URL of a part is `?playground=NAME` below a path
 * that only the browser knows, and such a URL is no specifier of a module. What a part shares with graphiql.js it finds in a global
 * object (web/playground/show-graphiql.ts).
 *
 *   page.js              web/playground/start.ts
 *   graphiql.js          web/playground/show-graphiql.ts with GraphiQL and React
 *   editor.js            web/playground/parts/editor.ts with Monaco
 *   explorer.js          web/playground/parts/explorer.ts with the Explorer
 *   manifest.js          web/playground/parts/manifest.ts with the client of the YAML worker
 *   prettier*.js         the formatter, and what it needs for GraphQL and for JSON
 *   *-worker.js          the editor's workers
 *   page.css             web/playground/page.css
 *   graphiql.css         the styles of GraphiQL, the Explorer and Monaco
 *   font-*               their fonts, of which a browser loads the few that it uses
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { type Plugin, rolldown } from 'rolldown';
import { bundledPackages } from './bundled-packages.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { resolve } = createRequire(import.meta.url);

const modules: Readonly<Record<string, string>> = {
  'page.js': 'web/playground/start.ts',
  'graphiql.js': 'web/playground/show-graphiql.ts',
  'editor.js': 'web/playground/parts/editor.ts',
  'explorer.js': 'web/playground/parts/explorer.ts',
  'manifest.js': 'web/playground/parts/manifest.ts',
  'prettier.js': 'prettier/standalone',
  'prettier-graphql.js': 'prettier/plugins/graphql',
  'prettier-estree.js': 'prettier/plugins/estree',
  'prettier-babel.js': 'prettier/plugins/babel',
};

const workers: Readonly<Record<string, string>> = {
  'editor-worker.js': 'monaco-editor/esm/vs/editor/editor.worker.js',
  'json-worker.js': 'monaco-editor/esm/vs/language/json/json.worker.js',
  'yaml-worker.js': 'monaco-yaml/yaml.worker.js',
  'graphql-worker.js': 'monaco-graphql/esm/graphql.worker.js',
};

/** Packages of which the page has one copy, that of graphiql.js. */
const shared: ReadonlySet<string> = new Set(['@graphiql/react', 'graphql', 'react', 'react/jsx-runtime']);
const sharing: ReadonlySet<string> = new Set([
  'web/playground/parts/editor.ts',
  'web/playground/parts/explorer.ts',
  'web/playground/parts/manifest.ts',
]);

/** What GraphiQL imports when it needs it, and the part with the same exports. */
const importedParts: Readonly<Record<string, string>> = {
  'monaco-graphql/esm/monaco-editor.js': 'editor.js',
  'monaco-graphql/esm/lite.js': 'editor.js',
  'monaco-editor/esm/vs/editor/browser/controller/mouseTarget.js': 'editor.js',
  'prettier/standalone': 'prettier.js',
  'prettier/plugins/graphql': 'prettier-graphql.js',
  'prettier/parser-graphql': 'prettier-graphql.js',
  'prettier/plugins/estree': 'prettier-estree.js',
  'prettier/parser-babel': 'prettier-babel.js',
};

interface CompiledPlayground {
  /** By name. */
  readonly parts: ReadonlyMap<string, string | Buffer>;
  /** `name@version` of each package in them, sorted. */
  readonly packages: readonly string[];
}

export async function compilePlayground(): Promise<CompiledPlayground> {
  const parts = new Map<string, string | Buffer>();
  const paths = ['graphiql/style.css', '@graphiql/plugin-explorer/style.css'].map((style) => resolve(style));
  const { text, fonts } = withoutFonts(paths.map((path) => readFileSync(path, 'utf8')).join('\n'));
  parts.set('graphiql.css', text);
  parts.set('page.css', readFileSync(new URL('../web/playground/page.css', import.meta.url), 'utf8'));
  for (const [name, font] of fonts) parts.set(name, font);
  for (const [entries, format] of [
    [modules, 'esm'],
    [workers, 'iife'],
  ] as const) {
    for (const [name, input] of Object.entries(entries)) {
      const { code, moduleIds } = await bundled(input, format);
      parts.set(name, code);
      paths.push(...moduleIds);
    }
  }
  return { parts, packages: bundledPackages(paths) };
}

async function bundled(input: string, format: 'esm' | 'iife') {
  const bundle = await rolldown({
    cwd: root,
    input,
    platform: 'browser',
    tsconfig: false,
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    // The styles are a part of their own.
    moduleTypes: { '.css': 'empty' },
    plugins: [importsOfParts(format), listsInExplorer, ...(sharing.has(input) ? [sharedPackages] : [])],
    // Packages have directives for frameworks, of which rolldown would warn.
    logLevel: 'silent',
  });
  try {
    const { output } = await bundle.generate({ format, minify: true, codeSplitting: false, name: 'portolan' });
    return output[0];
  } finally {
    await bundle.close();
  }
}

/**
 * The Explorer takes the type of a list for the type of its items, and complains in the console of lists of enum values or input objects
 * (`orderBy: [{ … }]`). It shows these lists as they are written instead.
 */
const listsInExplorer: Plugin = {
  name: 'lists-in-explorer',
  transform(code, id) {
    if (!/graphiql-explorer[\\/]dist[\\/]Explorer\.js$/.test(id)) return null;
    const complaint = "console.error('arg mismatch between arg and selection', argType, argValue);";
    if (!code.includes(complaint))
      throw new Error('graphiql-explorer has changed: see whether it still complains of lists');
    return code.replaceAll(complaint, "input = React.createElement('code', null, (0, _graphql.print)(argValue));");
  },
};

/** The page waits with them until its interface is shown. A worker has no such reason, and knows its own URL. */
const importsOfParts = (format: 'esm' | 'iife'): Plugin => ({
  name: 'imports-of-parts',
  resolveId(source, _importer, { kind }) {
    const part = kind === 'dynamic-import' ? importedParts[source] : undefined;
    return part === undefined ? null : { id: `part:${part}`, external: true };
  },
  renderChunk: (code) =>
    code.replaceAll(/\bimport\(["'`]part:([\w.-]+)["'`]\)/g, (_import, part: string) =>
      format === 'esm' ? `portolanPart('${part}')` : `import(new URL('?playground=${part}', location.href).href)`,
    ),
});

const sharedPackages: Plugin = {
  name: 'shared-packages',
  resolveId: (source) => (shared.has(source) ? `\0shared:${source}` : null),
  load(id) {
    const [, name] = id.split('\0shared:');
    return name === undefined ? null : `module.exports = portolanPackages[${JSON.stringify(name)}];`;
  },
};

function withoutFonts(css: string): { readonly text: string; readonly fonts: ReadonlyMap<string, Buffer> } {
  const fonts = new Map<string, Buffer>();
  const text = css.replace(/url\(data:font\/(\w+);base64,([\w+/=]+)\)/g, (_url, type: string, data: string) => {
    const name = `font-${fonts.size}.${type}`;
    fonts.set(name, Buffer.from(data, 'base64'));
    return `url("?playground=${name}")`;
  });
  return { text, fonts };
}
