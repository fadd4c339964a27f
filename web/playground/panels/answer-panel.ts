/** A plugin of GraphiQL: cost and warnings of the last answer. It shows the execution too, if the gateway offers that. */
import type { GraphiQLPlugin } from '@graphiql/react';
import { createElement as h, type ReactElement, type ReactNode } from 'react';
import type { LastAnswer } from './last-answer.ts';

/** `extensions.portolan` of an answer. */
interface Facts {
  readonly revision?: number;
  readonly cost?: { readonly asked: number; readonly spent: number; readonly allowed: number };
  readonly warnings?: readonly unknown[];
  readonly notAfforded?: readonly unknown[];
  readonly notReady?: readonly unknown[];
  readonly explain?: { readonly plans?: readonly unknown[]; readonly statements?: readonly unknown[] };
}

/** @param offersExplain may requests ask for explanations? */
export function answerPlugin(last: LastAnswer, offersExplain: boolean): GraphiQLPlugin {
  return { title: 'Cost and warnings', icon, content: () => h(AnswerPanel, { last, offersExplain }) };
}

function AnswerPanel({
  last,
  offersExplain,
}: {
  readonly last: LastAnswer;
  readonly offersExplain: boolean;
}): ReactElement {
  const { extensions, explain } = last.use();
  const facts = (extensions?.['portolan'] ?? null) as Facts | null;
  return h(
    'section',
    { className: 'portolan-answer', 'aria-label': 'Cost and warnings' },
    h('div', { className: 'graphiql-doc-explorer-title' }, 'Cost and warnings'),
    ...(facts === null ? [h('p', null, 'The last answer says nothing of its cost.')] : factsOf(facts)),
    offersExplain
      ? h(
          'label',
          null,
          h('input', { type: 'checkbox', checked: explain, onChange: () => last.explain(!explain) }),
          ' explain the next queries',
        )
      : h('p', null, 'portolan serve --explain shows the plans and the SQL of queries here.'),
  );
}

function factsOf({ cost, revision, warnings, notAfforded, notReady, explain }: Facts): readonly ReactNode[] {
  const rows: readonly (readonly [string, number | undefined])[] = [
    ['Values with full pages', cost?.asked],
    ['Values of the answer', cost?.spent],
    ['Allowed (--max-cost)', cost?.allowed],
    ['Revision', revision],
  ];
  const lists: readonly (readonly [string, readonly unknown[] | undefined])[] = [
    ['Warnings', warnings],
    ['Over the scan budget', notAfforded],
    ['Not ready', notReady],
    ['Plans', explain?.plans],
    ['Statements', explain?.statements],
  ];
  const row = ([name, value]: readonly [string, number | undefined]): ReactNode =>
    h('tr', { key: name }, h('th', { scope: 'row' }, name), h('td', null, value?.toLocaleString('en')));
  return [
    h('table', null, h('tbody', null, ...rows.filter(([, value]) => value !== undefined).map(row))),
    ...lists.flatMap(([name, entries = []]) =>
      entries.length === 0 ? [] : [h('h2', null, name), ...entries.map((entry) => h('pre', null, textOf(entry)))],
    ),
  ];
}

function textOf(entry: unknown): string {
  return typeof entry === 'string' ? entry : JSON.stringify(entry, null, 2);
}

/** A gauge, drawn like GraphiQL's own icons. */
function icon(): ReactElement {
  return h(
    'svg',
    { viewBox: '0 0 24 24', fill: 'none', stroke: 'currentColor', strokeWidth: 1.5, height: '1em' },
    h('path', { d: 'M4 18a9 9 0 1 1 16 0' }),
    h('path', { d: 'M12 14l4-5' }),
  );
}
