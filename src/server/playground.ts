/**
 * The playground: GraphiQL in one self-contained page, so that it works without access to any other server.
 */
import type { PlaygroundTab } from './playground-tabs.ts';

const tabsMarker = 'the tabs stand here';

export interface Playground {
  /** Loads the page; Yoga awaits this before it renders. */
  graphiql(): Promise<true>;
  renderGraphiQL(): string;
}

/**
 * The page that Yoga serves to browsers. It is rendered once, at the first request, because loading GraphiQL's 9 MB of source would
 * slow every start. Without tabs GraphiQL shows its own welcome text.
 */
export function playground(tabs: readonly PlaygroundTab[]): Playground {
  let rendering: Promise<string> | null = null;
  let page = '';
  return {
    async graphiql() {
      rendering ??= render(tabs);
      page = await rendering;
      return true;
    },
    renderGraphiQL: () => page,
  };
}

async function render(tabs: readonly PlaygroundTab[]): Promise<string> {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
  const html = renderGraphiQL({
    title: 'Portolan',
    subscriptionsProtocol: 'WS',
    ...(tabs.length === 0 ? {} : { defaultTabs: [{ query: tabsMarker }] }),
  });
  // The renderer inserts plain JSON into a script element. A `</script>` in an example would end that element.
  const values = tabs.map(({ query }) => JSON.stringify({ query }).replaceAll('<', String.raw`\u003c`));
  return (
    html
      .replace(JSON.stringify({ query: tabsMarker }), () => values.join(','))
      // GraphiQL keeps outdated transforms on its tabs, so a tab moves at its first click.
      .replace('</style>', '.graphiql-tab { transform: none !important }</style>')
  );
}
