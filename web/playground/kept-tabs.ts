/** The state that GraphiQL keeps in the browser: tabs, history, sizes of panes. Each set of clusters has its own. */
import type { GraphiQLProps } from 'graphiql';

/** The keys of the operations that were run, and of the marked operations. */
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
