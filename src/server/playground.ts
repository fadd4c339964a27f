/**
 * The playground: GraphiQL with everything it needs in one page, so that it works where nothing else can be reached.
 */
import type { PlaygroundTab } from './playground-tabs.ts';

const placeOfTabs = 'the tabs stand here';

export interface Playground {
  /** Makes the page; Yoga waits for it before it renders. */
  graphiql(): Promise<true>;
  renderGraphiQL(): string;
}

/**
 * What Yoga shows to browsers. The page is put together once, when it is first asked for: GraphiQL's source takes 9 MB, which no
 * start should wait for. Without tabs GraphiQL welcomes in its own words.
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
    ...(tabs.length === 0 ? {} : { defaultTabs: [{ query: placeOfTabs }] }),
  });
  // The renderer writes plain JSON into a script element, which `</script>` in an example would end.
  const values = tabs.map(({ query }) => JSON.stringify({ query }).replaceAll('<', String.raw`\u003c`));
  return (
    html
      .replace(JSON.stringify({ query: placeOfTabs }), () => values.join(','))
      // GraphiQL leaves old transforms on its tabs, which then jump away under the first click.
      .replace('</style>', '.graphiql-tab { transform: none !important }</style>')
  );
}
