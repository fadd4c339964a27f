/** The writer thread of bench/rbac.ts: fills the store, then writes and deletes bindings by order. */
import { parentPort, workerData } from 'node:worker_threads';
import { must } from '../src/base/must.ts';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import type { CommittedChanges } from '../src/store/types/change.ts';
import type { ResourceHandle } from '../src/store/types/progress.ts';
import { openWriter } from '../src/store/write/writer.ts';
import {
  clusterRoleBindings,
  clusterRoles,
  namespaceOf,
  type RbacWorld,
  roleBinding,
  roleBindings,
} from './rbac.world.ts';
import { phaseOf, treedPods } from './support/list-query.ts';
import { podText } from './support/pods.ts';

/** Writes or deletes a binding, or changes a Pod. Each is answered by the commit. */
export type RbacOrder =
  | { readonly bind: boolean; readonly namespace: string; readonly name: string; readonly kind: 'User' | 'Group' }
  | 'close';

export type RbacAnswer = 'filled' | { readonly committed: CommittedChanges };

const { file, world } = workerData as { readonly file: string; readonly world: RbacWorld };
const port = must(parentPort, 'the port of a worker thread');
const cluster = 'bench';

const writer = openWriter(file);
writer.openCluster(cluster, cluster);

async function fill(described: DescribedResource, texts: Iterable<string>): Promise<ResourceHandle> {
  const handle = writer.declare(described);
  const replace = writer.replace(handle);
  let batch: { text: string }[] = [];
  for (const text of texts) {
    batch.push({ text });
    if (batch.length < 100) continue;
    replace.put(batch);
    batch = [];
  }
  replace.put(batch);
  await replace.commit('1');
  return handle;
}

function* pods(): Generator<string> {
  for (let index = 0; index < world.pods; index += 1) {
    // Scattered, so that the namespaces of a caller are not those of certain times of creation.
    const namespace = namespaceOf((Math.imul(index, 2654435761) >>> 0) % world.namespaces);
    yield podText(index, phaseOf(index), index + 1).replace(/"namespace":"[^"]*"/, `"namespace":"${namespace}"`);
  }
}

function rbacKind(kind: string, namespaced: boolean): DescribedResource {
  const plural = `${kind.toLowerCase()}s`;
  const pod = treedPods(cluster);
  const root = { root: 'root', shapes: { root: { key: 'root', fields: [] } } };
  return {
    ...pod,
    resource: {
      ...pod.resource,
      group: 'rbac.authorization.k8s.io',
      plural,
      singular: kind.toLowerCase(),
      kind,
      namespaced,
      shortNames: [],
      categories: [],
    },
    tree: root as unknown as DescribedResource['tree'],
    columns: [],
    promoted: [],
    relations: [],
  } as DescribedResource;
}

await fill(treedPods(cluster), pods());
await fill(rbacKind('Role', true), []);
await fill(rbacKind('ClusterRole', false), clusterRoles());
await fill(rbacKind('ClusterRoleBinding', false), clusterRoleBindings());
const bindings = await fill(rbacKind('RoleBinding', true), roleBindings(world));
let version = 1;
let committed: CommittedChanges | null = null;
writer.onCommit((commit) => {
  committed = commit;
});
port.postMessage('filled' satisfies RbacAnswer);

port.on('message', (order: RbacOrder) => {
  if (order === 'close') {
    writer.close();
    port.close();
    return;
  }
  const { bind, namespace, name, kind } = order;
  version += 1;
  const text = roleBinding(namespace, name, kind).replace('"resourceVersion":"1"', `"resourceVersion":"${version}"`);
  writer.apply(bindings, [{ type: bind ? 'ADDED' : 'DELETED', object: { text } }], String(version));
  port.postMessage({ committed: must(committed, 'a commit') } satisfies RbacAnswer);
});
