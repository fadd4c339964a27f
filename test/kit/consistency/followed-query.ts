/** One live query of a client: its newest result. */
import type { Asked, Result } from './live-channel.ts';

export interface QueryQuestion {
  /** Without the keyword and the directive: `($filter: …) { … }`. */
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export class FollowedQuery {
  readonly user: string;
  readonly question: QueryQuestion;
  results = 0;
  #newest: Result | null = null;

  constructor(user: string, question: QueryQuestion) {
    this.user = user;
    this.question = question;
  }

  get newest(): string | null {
    return this.#newest === null ? null : textOf(this.#newest);
  }

  asked(): Omit<Asked, 'id'> {
    const { query, variables } = this.question;
    return { query: `query Live${query.replace('{', '@live(throttle: 5) {')}`, variables };
  }

  begin(): void {
    this.#newest = null;
  }

  take(result: Result): void {
    this.results += 1;
    this.#newest = result;
  }
}

/** The data and the codes of errors. */
export function textOf({ data, errors }: Result): string {
  return JSON.stringify({ data: data ?? null, codes: errors?.map(({ extensions }) => extensions?.code) });
}
