/**
 * The playground: GraphiQL with everything it needs in one page, so that it works where nothing else can be reached.
 */
import { renderGraphiQL } from '@graphql-yoga/render-graphiql';
import type { PlaygroundTab } from './playground-tabs.ts';

const placeOfTabs = 'the tabs stand here';

/** A function that gives the page; it is put together once, when it is first asked for. Without tabs GraphiQL welcomes in its own words. */
export function playground(tabs: readonly PlaygroundTab[]): () => string {
  let page: string | null = null;
  return () => {
    page ??= render(tabs);
    return page;
  };
}

function render(tabs: readonly PlaygroundTab[]): string {
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
