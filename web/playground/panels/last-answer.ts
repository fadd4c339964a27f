/** The last answer that GraphiQL got, for the panel of costs and for the bar below the result. */
import { useSyncExternalStore } from 'react';
import type { Fetcher, Observable } from '../fetcher.ts';
import type { Answer, Measure } from '../post.ts';

interface State {
  /** Null before the first answer of the tab. */
  readonly answer: Answer | null;
  /** Null for a message of a subscription. */
  readonly measure: Measure | null;
  readonly extensions: Answer['extensions'] | null;
  /** Do the next requests ask for explanations? */
  readonly explain: boolean;
}

export class LastAnswer {
  #state: State = { answer: null, measure: null, extensions: null, explain: false };
  readonly #changed = new Set<() => void>();

  /** A fetcher whose answers are kept, except those to GraphiQL's own introspection. */
  watching(fetcher: Fetcher): Fetcher {
    return (request, options) => {
      if (request.operationName === 'IntrospectionQuery') return fetcher(request, options);
      const asked = this.#state.explain ? { ...request, extensions: { portolan: { explain: true } } } : request;
      let measure: Measure | null = null;
      const measured = (found: Measure): void => {
        measure = found;
      };
      const answering = fetcher(asked, { ...options, measured });
      if (answering instanceof Promise) return answering.then((answer) => this.#keep(answer, measure));
      const subscribe: Observable['subscribe'] = (observer) =>
        answering.subscribe({
          next: (answer) => observer.next(this.#keep(answer, null)),
          error: (error) => observer.error(error),
          complete: () => observer.complete(),
        });
      return { subscribe };
    };
  }

  /** Another tab is shown: the answer is not its own. The panel keeps the cost of the answer. */
  leaveTab(): void {
    this.#set({ ...this.#state, answer: null, measure: null });
  }

  explain(explain: boolean): void {
    this.#set({ ...this.#state, explain });
  }

  /** For components: the state, and a new rendering when it changes. */
  use(): State {
    return useSyncExternalStore(
      (changed) => {
        this.#changed.add(changed);
        return () => void this.#changed.delete(changed);
      },
      () => this.#state,
    );
  }

  #keep(answer: Answer, measure: Measure | null): Answer {
    this.#set({ ...this.#state, answer, measure, extensions: answer.extensions ?? null });
    return answer;
  }

  #set(state: State): void {
    this.#state = state;
    for (const changed of this.#changed) changed();
  }
}
