/** The app store of the demo world: Redis and MySQL instances in the namespaces of the teams. */
import { prepareInstance } from '../controllers/app-store-controllers.ts';
import type { JsonObject } from '../objects/json.ts';
import { cacheGroup, databaseGroup } from '../sample/app-store-crds.ts';
import type { World } from '../world/world.ts';
import { daysAgo } from './demo-cluster-parts.ts';
import type { WorkloadBuilder } from './demo-workloads.ts';

type Place = readonly [namespace: string, name: string];

const caches: readonly Place[] = [
  ['shop', 'cart-cache'],
  ['identity', 'session-cache'],
  ['staging', 'cart-cache'],
  ['search', 'suggest-cache'],
  ['media', 'thumbnail-cache'],
  ['analytics', 'query-cache'],
  ['messaging', 'push-queue'],
  ['logistics', 'routing-cache'],
];
const databases: readonly Place[] = [
  ['payments', 'ledger-db'],
  ['shop', 'orders-db'],
  ['identity', 'accounts-db'],
  ['analytics', 'reports-db'],
  ['logistics', 'tracking-db'],
  ['staging', 'orders-db'],
];

/** Creates the instances; a small world has three of each. The cache of staging is stopped. */
export function createAppStore(world: World, builder: WorkloadBuilder, isSmall: boolean): void {
  const create = (group: string, plural: string, [namespace, name]: Place, spec: JsonObject): void => {
    const metadata = { namespace, name, labels: { 'app-store': 'yes' }, creationTimestamp: daysAgo(world, 200) };
    const instance = world.create(group, plural, { metadata, spec }, 'app-store');
    builder.statefulSet(prepareInstance(world, instance));
  };
  for (const place of caches.slice(0, isSmall ? 3 : undefined)) {
    const isStopped = place[0] === 'staging';
    const replicas = isStopped ? 0 : world.between(1, 3);
    create(cacheGroup, 'redises', place, {
      version: world.pick(['6.2.14', '7.2.5', '7.4.1', '8.0.2']),
      mode: replicas > 2 ? 'sentinel' : replicas > 1 ? 'replicated' : 'standalone',
      replicas,
      memory: world.pick(['1Gi', '2Gi', '4Gi', 2147483648]),
      port: world.chance(0.5) ? 6379 : 'redis',
      persistent: world.chance(0.7),
      timeout: '5m0s',
      parameters: { 'maxmemory-policy': world.pick(['allkeys-lru', 'noeviction']) },
    });
  }
  for (const place of databases.slice(0, isSmall ? 3 : undefined)) {
    create(databaseGroup, 'mysqls', place, {
      image: { repository: 'registry.example/library/mysql', tag: world.pick(['8.0.39', '8.4.2', '9.1.0']) },
      instances: world.between(1, 3),
      storage: { size: world.pick(['20Gi', '50Gi', '100Gi']), class: world.pick(['standard', 'fast']) },
      backup: { schedule: '30 2 * * *', keep: world.between(3, 14) },
    });
  }
}
