/** A bare watch of a plain client, and when it has brought what. */
import type { RestClient } from '../../src/kube/client/rest-client.ts';

/** Names the state of an object, for `until`. */
type MarkOf<T> = (object: T) => string | undefined;

export class BareWatch<T> {
  readonly #markOf: MarkOf<T>;
  /** The times of the marks, in milliseconds of `performance.now()`. */
  readonly #seen = new Map<string, number>();
  readonly #waiting = new Map<string, (at: number) => void>();
  readonly #stop = new AbortController();

  private constructor(markOf: MarkOf<T>) {
    this.#markOf = markOf;
  }

  /** Watches a collection from its present state on. */
  static async open<T>(client: RestClient, path: string, markOf: MarkOf<T>): Promise<BareWatch<T>> {
    const watch = new BareWatch<T>(markOf);
    const { metadata } = await client.get<{ metadata: { resourceVersion: string } }>(path);
    const query = { watch: true, resourceVersion: metadata.resourceVersion };
    const { body } = await client.stream(path, query, { signal: watch.#stop.signal });
    let rest = '';
    body.on('data', (chunk: Buffer) => {
      const at = performance.now();
      const lines = (rest + chunk.toString('utf8')).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) watch.#note(line, at);
    });
    body.on('error', () => {});
    return watch;
  }

  #note(line: string, at: number): void {
    const mark = this.#markOf((JSON.parse(line) as { object: T }).object);
    if (mark === undefined || this.#seen.has(mark)) return;
    this.#seen.set(mark, at);
    this.#waiting.get(mark)?.(at);
  }

  /** When the first event with this mark came. */
  async until(mark: string): Promise<number> {
    const at = this.#seen.get(mark);
    if (at !== undefined) return at;
    return new Promise((resolve) => this.#waiting.set(mark, resolve));
  }

  close(): void {
    this.#stop.abort();
  }
}
