/** A plugin of GraphiQL that lists the examples. A click opens one in a tab of its own, or the tab that has it. */
import { type GraphiQLPlugin, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { createElement as h, type ReactElement } from 'react';

export const examplesTitle = 'Examples';

/** @param documents each with comments at its beginning, and an operation with a name. */
export function examplesPlugin(documents: readonly string[]): GraphiQLPlugin {
  return { title: examplesTitle, icon, content: () => h(Examples, { documents }) };
}

function Examples({ documents }: { readonly documents: readonly string[] }): ReactElement {
  const { addTab, changeTab, setOperationName, updateActiveTabValues } = useGraphiQLActions();
  const tabs = useGraphiQL((state) => state.tabs);
  const active = useGraphiQL((state) => state.activeTabIndex);
  const editor = useGraphiQL((state) => state.queryEditor);
  const open = (document: string): void => {
    const at = tabs.findIndex(({ query }) => query === document);
    if (at >= 0) changeTab(at);
    else {
      addTab();
      editor?.setValue(document);
      // The editor tells it later, and a person may have opened another tab by then.
      updateActiveTabValues({ query: document });
    }
    // GraphiQL reads it from the editor later too, and gives a tab that is left early the name of the one before.
    setOperationName(operationNameOf(document) ?? '');
  };
  return h(
    'section',
    { className: 'portolan-examples', 'aria-label': examplesTitle },
    h('div', { className: 'graphiql-doc-explorer-title' }, examplesTitle),
    documents.length === 0 ? h('p', null, 'There are none before the gateway knows the kinds of a cluster.') : null,
    h(
      'ul',
      null,
      ...documents.map((document) =>
        h(
          'li',
          { key: document },
          h(
            'button',
            {
              type: 'button',
              'aria-current': tabs[active]?.query === document,
              disabled: editor === undefined,
              onClick: () => open(document),
            },
            h('b', null, operationNameOf(document) ?? 'Example'),
            h('span', null, commentOf(document)),
          ),
        ),
      ),
    ),
  );
}

function operationNameOf(document: string): string | undefined {
  return /^(?:query|subscription|mutation) (\w+)/m.exec(document)?.[1];
}

/** The first sentence of the comment at the beginning of a document. */
function commentOf(document: string): string {
  const [comment = ''] = /^(?:#.*\n)*/.exec(document) ?? [];
  return comment.replaceAll(/^# ?/gm, '').split(/(?<=\.)\s/)[0] ?? '';
}

/** A bulb, drawn like GraphiQL's own icons. */
function icon(): ReactElement {
  return h(
    'svg',
    { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, height: '1em' },
    h('path', { d: 'M9 18v-3a6 6 0 1 1 6 0v3z' }),
    h('path', { d: 'M10 21h4' }),
  );
}
