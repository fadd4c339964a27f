/** A plugin of GraphiQL whose panel is loaded when a person opens it: the editor of manifests (web/playground/parts/manifest.ts). */
import type { GraphiQLPlugin } from '@graphiql/react';
import { createElement as h, lazy, type ReactElement, Suspense } from 'react';
import type { Fetcher } from '../fetcher.ts';

/** @param fetcher sends what the panel asks and writes */
export function manifestPlugin(fetcher: Fetcher): GraphiQLPlugin {
  /** Empty if it cannot be loaded: an error would end GraphiQL. */
  const Panel = lazy(() =>
    part().then(
      ({ ManifestPanel }) => ({ default: (): ReactElement | null => h(ManifestPanel, { fetcher }) }),
      () => ({ default: (): ReactElement | null => null }),
    ),
  );
  return { title: 'Manifest', icon, content: () => h(Suspense, null, h(Panel)) };
}

const part = (): Promise<typeof import('../parts/manifest.ts')> => portolanPart('manifest.js');

/** A sheet with lines, drawn like GraphiQL's own icons. */
function icon(): ReactElement {
  return h(
    'svg',
    { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, height: '1em' },
    h('path', { d: 'M5 2h10l4 4v16H5z' }),
    h('path', { d: 'M8 9h4M10 13h6M10 17h6' }),
  );
}
