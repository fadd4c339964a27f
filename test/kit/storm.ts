/** The objects of storm-process.ts. Change `n` changes object `n % 1000`. */
export const stormObjects = 1000;
/** The resourceVersion before the first change. */
export const base = 10_000_000;

/** The resourceVersion of an object after `changes` changes. */
export function stormVersion(index: number, changes: number): number {
  return base + changes - ((changes - index + stormObjects) % stormObjects);
}

/** The object after change `n`. */
export function stormObject(n: number, filler: string): string {
  const index = (n + stormObjects) % stormObjects;
  const metadata = { name: `o${index}`, namespace: 'default', uid: `uid-${index}`, resourceVersion: String(base + n) };
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { change: String(n), filler } });
}
