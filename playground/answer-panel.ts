/** A plugin of GraphiQL: what the last answer says of its cost, its warnings and, where the gateway offers it, its execution. */
import type { GraphiQLPlugin } from '@graphiql/react';
import { createElement as h, type ReactElement, type ReactNode, useSyncExternalStore } from 'react';
import type { Fetcher, Observable } from './fetcher.ts';
import type { Answer } from './post.ts';

/** `extensions.portolan` of an answer. */
interface Facts {
  readonly revision?: number;
  readonly cost?: { readonly asked: number; readonly spent: number; readonly allowed: number };
  readonly warnings?: readonly unknown[];
  readonly notAfforded?: readonly unknown[];
  readonly notReady?: readonly unknown[];
  readonly explain?: { readonly plans?: readonly unknown[]; readonly statements?: readonly unknown[] };
}

interface State {
  readonly facts: Facts | null;
  readonly explain: boolean;
}

export class AnswerPanel {
  #state: State = { facts: null, explain: false };
  readonly #changed = new Set<() => void>();
  readonly #offersExplain: boolean;

  /** @param offersExplain may requests ask for explanations? */
  constructor(offersExplain: boolean) {
    this.#offersExplain = offersExplain;
  }

  readonly plugin: GraphiQLPlugin = { title: 'Cost and warnings', icon, content: () => this.#content() };

  /** A fetcher whose answers the panel shows, except those to GraphiQL's own introspection. */
  watching(fetcher: Fetcher): Fetcher {
    return (request, options) => {
      if (request.operationName === 'IntrospectionQuery') return fetcher(request, options);
      const asked = this.#state.explain ? { ...request, extensions: { portolan: { explain: true } } } : request;
      const answering = fetcher(asked, options);
      if (answering instanceof Promise) return answering.then((answer) => this.#show(answer));
      const subscribe: Observable['subscribe'] = (observer) =>
        answering.subscribe({
          next: (answer) => observer.next(this.#show(answer)),
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        });
      return { subscribe };
    };
  }

  #show(answer: Answer): Answer {
    const facts = (answer.extensions?.['portolan'] ?? null) as Facts | null;
    this.#set({ ...this.#state, facts });
    return answer;
  }

  #set(state: State): void {
    this.#state = state;
    for (const changed of this.#changed) changed();
  }

  #content(): ReactElement {
    const { facts, explain } = useSyncExternalStore<State>(
      (changed) => {
        this.#changed.add(changed);
        return () => void this.#changed.delete(changed);
      },
      () => this.#state,
    );
    const toggle = (): void => this.#set({ ...this.#state, explain: !explain });
    return h(
      'section',
      { className: 'portolan-answer', 'aria-label': 'Cost and warnings' },
      h('div', { className: 'graphiql-doc-explorer-title' }, 'Cost and warnings'),
      ...(facts === null ? [h('p', null, 'The last answer says nothing of its cost.')] : this.#facts(facts)),
      this.#offersExplain
        ? h(
            'label',
            null,
            h('input', { type: 'checkbox', checked: explain, onChange: toggle }),
            ' explain the next queries',
          )
        : h('p', null, 'portolan serve --explain shows the plans and the SQL of queries here.'),
    );
  }

  #facts({ cost, revision, warnings, notAfforded, notReady, explain }: Facts): readonly ReactNode[] {
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
