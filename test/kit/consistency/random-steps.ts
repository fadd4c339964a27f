/** Random writes of the consistency test: objects that are created, changed, deleted and created again, and rights. */
import type { Dice } from '../../fuzz/dice.ts';
import type { WatchedCluster } from './watched-cluster.ts';
import {
  administrator,
  bindingCollection,
  bindingManifest,
  bindingPath,
  collection,
  colors,
  kinds,
  names,
  namespaces,
  roleNames,
  users,
} from './watched-objects.ts';

export async function randomWrites(cluster: WatchedCluster, dice: Dice, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 1) {
    const [kind, namespace, name] = [dice.pick(kinds), dice.pick(namespaces), dice.pick(names)];
    const path = `${collection(kind, namespace)}/${name}`;
    const body = {
      metadata: { labels: { color: dice.pick(colors) } },
      ...(kind === 'ConfigMap' ? { data: { value: String(dice.below(1000)) } } : {}),
    };
    const metadata = { ...body.metadata, name, namespace };
    const create = (): Promise<void> =>
      cluster.create(collection(kind, namespace), { apiVersion: 'v1', kind, ...body, metadata });
    if (!(await cluster.has(path))) await create();
    else if (dice.chance(0.55)) await cluster.patch(path, body);
    else {
      await cluster.delete(path);
      if (dice.chance(0.4)) await create();
    }
  }
}

/** Gives a user a role, in a namespace or everywhere, or takes it away. */
export async function randomRight(cluster: WatchedCluster, dice: Dice): Promise<void> {
  const user = dice.pick(users.filter((each) => each !== administrator));
  const role = dice.pick(roleNames);
  const namespace = dice.chance(0.2) ? null : dice.pick(namespaces);
  const path = bindingPath(user, role, namespace);
  if (await cluster.has(path)) await cluster.delete(path);
  else await cluster.create(bindingCollection(namespace), bindingManifest(user, role, namespace));
}
