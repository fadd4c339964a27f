/** Random changes of the objects of scoped-world.ts. */
import type { Dice } from '../fuzz/dice.ts';
import type { PlacedObject } from './scoped-world.ts';

/** Changes an object, or deletes it; a deleted one comes back with its next change. Writes what became of it into `objects`. */
export function changeObject(
  dice: Dice,
  objects: PlacedObject[],
  apply: (key: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: unknown, cluster: string) => void,
): void {
  const at = dice.below(objects.length);
  const placed = objects[at];
  if (placed === undefined) return;
  const { key, cluster, object } = placed;
  const metadata = object['metadata'] as Readonly<Record<string, unknown>>;
  const resourceVersion = String(Number(metadata['resourceVersion']) + 1000);
  const other = dice.pick(objects.filter((each) => each.key === key));
  const changed = { ...object, ...other.object, metadata: { ...metadata, resourceVersion } };
  objects[at] = { ...placed, object: changed };
  const type = dice.choose([
    [3, () => 'MODIFIED' as const],
    [1, () => 'DELETED' as const],
  ]);
  apply(key, type, changed, cluster);
}
