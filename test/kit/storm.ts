/** The objects of storm-process.ts: object `n % 1000` is changed by change `n`. */
export const stormObjects = 1000;
/** The resourceVersion before the first change. */
export const base = 10_000_000;

/** The resourceVersion of an object once so many changes are made. */
export function stormVersion(index: number, changes: number): number {
  return base + changes - ((changes - index + stormObjects) % stormObjects);
}

/** The object as change `n` made it. */
export function stormObject(n: number, filler: string): string {
  const index = (n + stormObjects) % stormObjects;
  const metadata = { name: `o${index}`, namespace: 'default', uid: `uid-${index}`, resourceVersion: String(base + n) };
  return JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { change: String(n), filler } });
}
