/** What GraphiQL keeps in the browser, apart for each set of clusters. */
import type { GraphiQLProps } from 'graphiql';

/** A part of a storage: its keys begin with a text that names the clusters. */
export function keptTabs(storage: globalThis.Storage, clusters: string): NonNullable<GraphiQLProps['storage']> {
  const prefix = `portolan ${clusters} `;
  const keys = (): readonly string[] => Object.keys(storage).filter((key) => key.startsWith(prefix));
  return {
    get length() {
      return keys().length;
    },
    getItem: (key) => storage.getItem(prefix + key),
    setItem: (key, value) => storage.setItem(prefix + key, value),
    removeItem: (key) => storage.removeItem(prefix + key),
    clear() {
      for (const key of keys()) storage.removeItem(key);
    },
  };
}
