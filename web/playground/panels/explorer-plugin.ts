/** A plugin of GraphiQL whose panel is loaded when a person opens it: the Explorer, which writes documents by clicks. */
import type { GraphiQLPlugin } from '@graphiql/react';
import { createElement as h, lazy, type ReactElement, Suspense } from 'react';

/** Empty if it cannot be loaded: an error would end GraphiQL. */
const Panel = lazy(() =>
  portolanPart('explorer.js').then(
    ({ Explorer }) => ({ default: Explorer }),
    () => ({ default: () => null }),
  ),
);

export const explorerPlugin: GraphiQLPlugin = {
  title: 'Explorer',
  icon,
  content: () => h(Suspense, null, h(Panel)),
};

/** A folder, drawn like GraphiQL's own icons. */
function icon(): ReactElement {
  return h(
    'svg',
    { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, height: '1em' },
    h('path', { d: 'M2 20V4h7l4 3h9v13z' }),
    h('path', { d: 'M2 11h20' }),
  );
}
