/** What GraphiQL keeps in the browser, apart for each set of clusters: the tabs, the history, and the sizes of panes. */
import type { GraphiQLProps } from 'graphiql';

/** The keys of the operations that were run, and of those that the person marked. */
const histories: ReadonlySet<string> = new Set(['graphiql:queries', 'graphiql:favorites']);

/**
 * A part of a storage: its keys begin with a text that names the clusters.
 * @param keepsHeaders else the history has none: GraphiQL's option for tabs does not concern it, and headers may have credentials.
 */
export function keptTabs(
  storage: globalThis.Storage,
  clusters: string,
  keepsHeaders: boolean,
): NonNullable<GraphiQLProps['storage']> {
  const prefix = `portolan ${clusters} `;
  const keys = (): readonly string[] => Object.keys(storage).filter((key) => key.startsWith(prefix));
  return {
    get length() {
      return keys().length;
    },
    getItem: (key) => storage.getItem(prefix + key),
    setItem: (key, value) =>
      storage.setItem(prefix + key, keepsHeaders || !histories.has(key) ? value : withoutHeaders(value)),
    removeItem: (key) => storage.removeItem(prefix + key),
    clear() {
      for (const key of keys()) storage.removeItem(key);
    },
  };
}

function withoutHeaders(json: string): string {
  return JSON.stringify(JSON.parse(json, (key, value: unknown) => (key === 'headers' ? undefined : value)));
}
