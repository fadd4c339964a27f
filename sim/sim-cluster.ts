/**
 * A simulated cluster: store, API, HTTP server, garbage collection and CRDs. It can also have a demo world with controllers.
 *
 * Life: all objects exist before the server listens. `close` ends controllers, watches, timers and sockets, and is idempotent.
 * One process may run any number of clusters.
 */
import { stringify } from 'yaml';
import { type Clock, type Random, systemClock } from '../src/base/clock.ts';
import { type Logger, silentLogger } from '../src/base/log.ts';
import { Callers, type SimUser } from './access/callers.ts';
import { Rbac } from './access/rbac.ts';
import { Evictions } from './api/evictions.ts';
import { GarbageCollector } from './api/garbage-collector.ts';
import { Lister } from './api/list-objects.ts';
import { type DeleteResult, ObjectApi } from './api/object-api.ts';
import type { DeleteRequest, PatchKind, PatchOptions, WriteOptions } from './api/write-options.ts';
import { builtinResources } from './builtin/builtin-resources.ts';
import { CrdManager } from './crd/crd-manager.ts';
import { podsPerNode } from './demo/demo-cluster-parts.ts';
import { type DemoWorld, startDemoWorld, startWorkloadControllers } from './demo/demo-world.ts';
import type { AnswerHooks } from './http/answer-hooks.ts';
import { ApiServer } from './http/api-server.ts';
import { parseResourcePath } from './http/request-info.ts';
import { ResourceHandlers } from './http/resource-handlers.ts';
import { asString, at, isObject, type JsonObject } from './objects/json.ts';
import { ObjectStore, type StoreBackup } from './objects/object-store.ts';
import { seededRandom } from './objects/seeded-random.ts';
import { statusErrors } from './objects/status-error.ts';
import { ResourceRegistry } from './resources/resource-registry.ts';
import type { ServedResource } from './resources/served-resource.ts';

interface SimFeatures {
  /** Aggregated discovery; on unless false. */
  readonly aggregatedDiscovery?: boolean;
  /** OpenAPI v3; on unless false. */
  readonly openapiV3?: boolean;
  /** Streaming lists; on unless false. */
  readonly watchList?: boolean;
  /** A bearer token that every request must carry; without it, all requests are accepted. */
  readonly token?: string;
  /** The users by token; RBAC authorizes their requests. Without users, every authenticated caller may do everything. */
  readonly users?: readonly SimUser[];
  /** Milliseconds between bookmarks; 5000 by default. */
  readonly bookmarkMs?: number;
  /** Answers a watch from an expired version with HTTP 410 instead of an ERROR event. */
  readonly expiredAsHttp?: boolean;
}

export interface SimOptions {
  /** 0, the default, takes any free port. */
  readonly port?: number;
  readonly host?: '127.0.0.1';
  readonly clock?: Clock;
  /** The source of names, uids and demo events; fixed seed by default. */
  readonly random?: Random;
  readonly objects?: 'empty' | 'demo';
  /** Whether controllers create the Pods of workloads without a demo world. The demo world always has them. */
  readonly controllers?: boolean;
  /** The approximate number of Pods in the demo world; 2000 by default. */
  readonly pods?: number;
  /** The number of Nodes in the demo world; 24 by default, and more for more than 2160 Pods. */
  readonly nodes?: number;
  /** Whether objects in the demo world also change by themselves. */
  readonly churn?: boolean;
  /** CustomResourceDefinitions to create at the start. */
  readonly crds?: readonly unknown[];
  readonly features?: SimFeatures;
  /** The number of events kept for each resource; 10000 by default. */
  readonly historyEvents?: number;
  /**
   * The limit, in bytes of JSON, of the old versions kept for watches and pages, over all resources. Default: 2 MiB for the demo world,
   * 128 MiB otherwise. A watch from an older version is answered with 410.
   */
  readonly historyBytes?: number;
  /** How many times faster than the clock the time of the demo world passes; 1 by default. Sockets and watches keep the clock. */
  readonly worldSpeed?: number;
  readonly log?: Logger;
  readonly hooks?: AnswerHooks;
}

/** The path of an object or of a collection such as `/api/v1/namespaces/default/pods`. */
type ObjectPath = string;

export interface SimCluster {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The number of open watches. */
  readonly openWatches: number;
  /** The number of received requests. */
  readonly requests: number;
  /** A kubeconfig in YAML for this cluster. */
  kubeconfig(): string;
  /** Ends sockets, timers and controllers. Idempotent. */
  close(): Promise<void>;
  /** Drops all history: older watches, continue tokens and exact versions are answered with 410. */
  compact(): void;
  /** Creates an object in the collection given by apiVersion, kind and metadata.namespace. Throws StatusError. */
  create(object: JsonObject, options?: WriteOptions): JsonObject;
  /** Replaces an object. */
  update(object: JsonObject, options?: WriteOptions): JsonObject;
  /** Patches the object at a path such as `/api/v1/namespaces/a/pods/b`, with an optional subresource. */
  patch(path: ObjectPath, patch: unknown, kind?: PatchKind, options?: PatchOptions): JsonObject;
  /** Deletes the object at a path. */
  delete(path: ObjectPath, request?: DeleteRequest): DeleteResult;
  /** The object at a path, or undefined. Shared with the store: do not change it. */
  get(path: ObjectPath): JsonObject | undefined;
  /** The objects in the collection at a path, in key order. Shared with the store: do not change them. */
  list(path: ObjectPath): JsonObject[];
  /** A backup of all objects with their revision. */
  save(): StoreBackup;
  /**
   * Restores a backup, as from a restored etcd: the revision falls, history is dropped, watches are cut. Not supported while
   * controllers run. The custom resource definitions must be those of the backup.
   */
  restore(backup: StoreBackup): void;
  /** Cuts the connections of all open watches. */
  dropWatches(): void;
  /** While false, every request is answered with 503. */
  setAvailable(available: boolean): void;
}

/** Starts a cluster; resolves when it listens. */
export async function startSimCluster(options: SimOptions = {}): Promise<SimCluster> {
  const { clock = systemClock, random = seededRandom(1), features = {}, log = silentLogger } = options;
  const host = options.host ?? '127.0.0.1';
  const demo = options.objects === 'demo';
  const store = new ObjectStore({
    historyEvents: options.historyEvents ?? 10_000,
    historyBytes: options.historyBytes ?? (demo ? 2 : 128) * 2 ** 20,
    // The demo world has one reader, and rather little memory than fast repeated lists.
    keepTexts: !demo,
  });
  const registry = new ResourceRegistry();
  registry.replace([], builtinResources());
  const worldClock = options.worldSpeed === undefined ? clock : fasterClock(clock, options.worldSpeed);
  const api = new ObjectApi({ store, clock: worldClock, random, gracefulPods: demo });
  const lister = new Lister(store, clock);
  const crds = new CrdManager(api, registry);
  const collector = new GarbageCollector(api, registry);
  const callers = new Callers(features.token, features.users);
  const rbac = new Rbac(store);
  const served = {
    watchList: features.watchList ?? true,
    bookmarkMs: features.bookmarkMs ?? 5000,
    expiredAsHttp: features.expiredAsHttp ?? false,
    callers,
    rbac,
    evictions: new Evictions(api, registry),
  };
  const handlers = new ResourceHandlers(api, lister, clock, served, options.hooks);
  registry.onWithdrawn((withdrawn) => handlers.endWatches(withdrawn));
  const compact = (): void => {
    store.compact();
    lister.compact();
  };

  const objects = objectAccess(api, registry, store);
  for (const name of ['default', 'kube-node-lease', 'kube-public', 'kube-system']) {
    objects.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { fieldManager: 'kube-apiserver' });
  }
  const world = startWorld(options, { api, registry, clock: worldClock, random, log });
  // After the demo world, so that the same seed gives the same world.
  for (const crd of options.crds ?? []) if (isObject(crd)) objects.create(crd, { fieldManager: 'kubectl' });
  if (demo) compact();

  const server = new ApiServer({
    registry,
    handlers,
    log,
    hooks: options.hooks,
    aggregatedDiscovery: features.aggregatedDiscovery ?? true,
    openapiV3: features.openapiV3 ?? true,
    callers,
    rbac,
  });
  const port = await server.listen(options.port ?? 0, host);
  const url = `http://${host}:${port}`;
  const token = features.token ?? features.users?.[0]?.token ?? 'simulated';
  log.info({ url }, 'the simulated cluster listens');
  let closing: Promise<void> | undefined;

  return {
    url,
    get openWatches() {
      return handlers.watchCount;
    },
    get requests() {
      return server.requests;
    },
    kubeconfig: () => kubeconfigOf(url, token),
    close: () => {
      closing ??= (async () => {
        await world?.stop();
        collector.stop();
        crds.stop();
        await server.close();
      })();
      return closing;
    },
    compact,
    save: () => store.save(),
    restore: (backup) => {
      store.restore(backup);
      lister.compact();
      handlers.dropWatches();
    },
    ...objects,
    dropWatches: () => handlers.dropWatches(),
    setAvailable: (available) => server.setAvailable(available),
  };
}

/** A clock on which `speed` seconds pass in each second of another clock. It starts at the other clock's present time. */
function fasterClock(clock: Clock, speed: number): Clock {
  const begin = { now: clock.now(), monotonic: clock.monotonic() };
  const passed = (): number => (clock.monotonic() - begin.monotonic) * speed;
  return {
    now: () => begin.now + passed(),
    monotonic: () => begin.monotonic + passed(),
    sleep: (ms, signal) => clock.sleep(ms / speed, signal),
  };
}

/** Starts what changes objects by itself; undefined if nothing does. */
function startWorld(
  { objects, pods = 2000, nodes, churn = false, controllers }: SimOptions,
  parts: Parameters<typeof startWorkloadControllers>[0],
): DemoWorld | undefined {
  if (objects === 'demo') {
    return startDemoWorld({ ...parts, pods, nodes: nodes ?? Math.max(24, Math.ceil(pods / podsPerNode)), churn });
  }
  return controllers === true ? startWorkloadControllers(parts) : undefined;
}

/** Reads and writes by paths and manifests, without HTTP. */
function objectAccess(
  api: ObjectApi,
  registry: ResourceRegistry,
  store: ObjectStore,
): Pick<SimCluster, 'create' | 'update' | 'patch' | 'delete' | 'get' | 'list'> {
  const place = (path: ObjectPath): { resource: ServedResource; namespace: string; name: string; status: boolean } => {
    const about = parseResourcePath(path);
    const resource = about && registry.find(about.group, about.version, about.plural);
    if (!about || !resource) throw statusErrors.noSuchPath();
    return {
      resource,
      namespace: about.namespace ?? '',
      name: about.name ?? '',
      status: about.subresource === 'status',
    };
  };
  const resourceOf = (object: JsonObject): { resource: ServedResource; namespace: string } => {
    const [version = '', group = ''] = asString(object.apiVersion).split('/').reverse();
    const resource = registry.findKind(group, asString(object.kind), version);
    if (!resource) throw statusErrors.noSuchPath();
    return {
      resource,
      namespace: resource.namespaced ? asString(at(object, 'metadata', 'namespace')) || 'default' : '',
    };
  };
  return {
    create: (object, write = {}) => {
      const { resource, namespace } = resourceOf(object);
      return resource.view.convert(api.create(resource, namespace, object, write).object);
    },
    update: (object, write = {}) => {
      const { resource, namespace } = resourceOf(object);
      const name = asString(at(object, 'metadata', 'name'));
      return resource.view.convert(api.update(resource, namespace, name, object, write).object);
    },
    patch: (path, patch, kind = 'merge', write = {}) => {
      const { resource, namespace, name, status } = place(path);
      const done = api.patch(resource, namespace, name, kind, patch, { subresource: status ? 'status' : '', ...write });
      return resource.view.convert(done.object);
    },
    delete: (path, request) => {
      const { resource, namespace, name } = place(path);
      return api.delete(resource, namespace, name, request);
    },
    get: (path) => {
      const { resource, namespace, name } = place(path);
      const stored = store.get(resource.storage, namespace, name);
      return stored && resource.view.convert(stored.object);
    },
    list: (path) => {
      const { resource, namespace } = place(path);
      const found = store.list(resource.storage, namespace === '' ? undefined : namespace);
      return found.map((stored) => resource.view.convert(stored.object));
    },
  };
}

function kubeconfigOf(url: string, token: string): string {
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'simulated', cluster: { server: url } }],
    users: [{ name: 'simulated', user: { token } }],
    contexts: [{ name: 'simulated', context: { cluster: 'simulated', user: 'simulated', namespace: 'default' } }],
    'current-context': 'simulated',
  });
}
