/**
 * The parts that the page of the playground loads: its script, and GraphiQL with its workers, styles and fonts.
 *
 *   page -> page.js, page.css -> (the gateway accepts the caller) -> graphiql.js, graphiql.css -> workers and fonts when they are used
 *
 * @graphql-yoga/render-graphiql has GraphiQL as texts of 8 MB. They are loaded when the first browser asks for one of them, because
 * loading them would slow every start. Each part is in memory once, however many clients ask for it.
 */
import { must } from '../../base/must.ts';
import { partOf } from '../negotiation/playground-request.ts';
import { SharedBody } from '../negotiation/shared-body.ts';
import { pageStyle } from './page.ts';

type Part = { readonly body: string | Buffer; readonly type: string; readonly isCompressible?: boolean };

const script = 'text/javascript; charset=utf-8';
const style = 'text/css; charset=utf-8';

/** Parts of the page itself: they are small. */
const own: Readonly<Record<string, () => Promise<Part>>> = {
  'page.js': async () => ({ body: (await import('../generated/playground-script.ts')).script, type: script }),
  'page.css': async () => ({ body: pageStyle, type: style }),
};

export class PlaygroundParts {
  readonly #bodies = new Map<string, SharedBody>();
  #graphiql: Promise<ReadonlyMap<string, Part>> | null = null;

  /** Null if there is no such part. */
  async find(name: string): Promise<SharedBody | null> {
    const known = this.#bodies.get(name);
    if (known !== undefined) return known;
    const part = Object.hasOwn(own, name)
      ? await must(own[name], 'a part of the page')()
      : await this.#ofGraphiql(name);
    if (part === null) return null;
    const { body, ...described } = part;
    const made = this.#bodies.get(name) ?? new SharedBody(body, described);
    this.#bodies.set(name, made);
    return made;
  }

  async #ofGraphiql(name: string): Promise<Part | null> {
    this.#graphiql ??= loadGraphiql();
    return (await this.#graphiql).get(name) ?? null;
  }
}

async function loadGraphiql(): Promise<ReadonlyMap<string, Part>> {
  const { css, js, editorWorkerService, jsonWorker, graphqlWorker } = await import(
    '@graphql-yoga/render-graphiql/graphiql'
  );
  const { text, fonts } = withoutFonts(css);
  return new Map<string, Part>([
    ['graphiql.js', { body: withPlugins(js), type: script }],
    ['graphiql.css', { body: text, type: style }],
    ['editor-worker.js', { body: editorWorkerService, type: script }],
    ['json-worker.js', { body: jsonWorker, type: script }],
    ['graphql-worker.js', { body: graphqlWorker, type: script }],
    ...fonts,
  ]);
}

/** The styles with their fonts as parts of their own: a browser loads the few that it uses. */
export function withoutFonts(css: string): { readonly text: string; readonly fonts: ReadonlyMap<string, Part> } {
  const fonts = new Map<string, Part>();
  const text = css.replace(/url\(data:(font\/\w+);base64,([\w+/=]+)\)/g, (_url, type: string, data: string) => {
    const name = `font-${fonts.size}.${type.slice('font/'.length)}`;
    fonts.set(name, { body: Buffer.from(data, 'base64'), type, isCompressible: type !== 'font/woff2' });
    return `url("${partOf}${name}")`;
  });
  return { text, fonts };
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
