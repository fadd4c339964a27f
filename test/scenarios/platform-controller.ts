/**
 * A controller of CloudManagers and Foos, as a platform has one. It works on the API server alone and knows nothing of Portolan.
 *
 *   CloudManager -> a Secret, two Deployments, a StatefulSet with a claim template, all owned by it; Events; status.phase
 *   Foo          -> the Deployment that it names, owned by it; status.availableReplicas
 *
 * Every round reads all objects and makes what is missing. What fails for a passing reason is left to the next round.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { ApiError } from '../../src/kube/http/api-error.ts';
import { keepsClaims } from './platform-manifests.ts';

interface Metadata {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly deletionTimestamp?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Component {
  readonly image: string;
  readonly name: string;
}

interface CloudManager {
  readonly metadata: Metadata;
  readonly spec: {
    readonly front: { readonly deployment: Component };
    readonly identity: { readonly deployment: Component };
    readonly db: { readonly statefulSet: Component & { readonly storage: Storage } };
  };
  readonly status?: { readonly phase?: string };
}

interface Storage {
  readonly class: string;
  readonly accessModes: readonly string[];
  readonly size: string;
}

interface Foo {
  readonly metadata: Metadata;
  readonly spec: { readonly deploymentName: string; readonly replicas: number };
  readonly status?: { readonly availableReplicas?: number };
}

/** A Deployment or a StatefulSet. */
interface Workload {
  readonly metadata: Metadata;
  readonly spec: { readonly replicas: number };
  readonly status?: { readonly readyReplicas?: number; readonly availableReplicas?: number };
}

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

const managers = 'cloudmanagercontroller.huayun.com/v1';
const foos = 'samplecontroller.k8s.io/v1alpha1';
const betweenRoundsMs = 200;

export class PlatformController {
  readonly #client: RestClient;
  readonly #connection: Connection;
  readonly #stopped = new AbortController();
  readonly #work: Promise<void>;

  static async start(kubeconfig: string): Promise<PlatformController> {
    return new PlatformController(await connect({ kubeconfig, env: {}, name: 'controller' }));
  }

  private constructor(connection: Connection) {
    this.#connection = connection;
    this.#client = new RestClient(connection);
    this.#work = this.#rounds();
    // The failure is thrown by `stop`.
    this.#work.catch(() => {});
  }

  /** Rejects if a round has failed. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await this.#work.finally(() => this.#connection.close());
  }

  async #rounds(): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await orNextRound(async () => {
        for (const manager of await this.#list<CloudManager>(managers, 'cloudmanagers')) {
          await orNextRound(() => this.#cloudManager(manager));
        }
      });
      await orNextRound(async () => {
        for (const foo of await this.#list<Foo>(foos, 'foos')) await orNextRound(() => this.#foo(foo));
      });
      await sleep(betweenRoundsMs);
    }
  }

  async #list<T>(group: string, plural: string): Promise<readonly T[]> {
    return (await this.#client.get<{ items: readonly T[] }>(`/apis/${group}/${plural}`)).items;
  }

  async #cloudManager({ metadata, spec, status }: CloudManager): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const owner = { apiVersion: managers, kind: 'CloudManager', metadata };
    if (status?.phase === undefined) {
      await this.#event(owner, 'Normal', 'Creating', 'the parts are made');
      await this.#setStatus(managers, 'cloudmanagers', metadata, { phase: 'progressing' });
    }
    const credentials = `${metadata.name}-credentials`;
    const secret = { type: 'Opaque', stringData: { password: 'not-a-secret' } };
    await this.#ensure('/api/v1', 'secrets', owner, credentials, secret);
    const { front, identity, db } = spec;
    const parts = [
      await this.#ensure<Workload>(apps, 'deployments', owner, front.deployment.name, {
        spec: workload(front.deployment, { envFrom: [{ secretRef: { name: credentials } }] }),
      }),
      await this.#ensure<Workload>(apps, 'deployments', owner, identity.deployment.name, {
        spec: workload(identity.deployment),
      }),
      await this.#ensure<Workload>(apps, 'statefulsets', owner, db.statefulSet.name, {
        spec: database(db.statefulSet, metadata.annotations?.[keepsClaims] === undefined),
      }),
    ];
    const ready = parts.every((part) => part.status?.readyReplicas === part.spec.replicas);
    const phase = ready ? 'ready' : 'progressing';
    if ((status?.phase ?? 'progressing') === phase) return;
    await this.#event(owner, ready ? 'Normal' : 'Warning', ready ? 'Ready' : 'NotReady', `the phase is ${phase}`);
    await this.#setStatus(managers, 'cloudmanagers', metadata, { phase });
  }

  async #foo({ metadata, spec, status }: Foo): Promise<void> {
    if (metadata.deletionTimestamp !== undefined) return;
    const owner = { apiVersion: foos, kind: 'Foo', metadata };
    const wanted = workload({ name: spec.deploymentName, image: 'nginx' });
    const made = await this.#ensure<Workload>(apps, 'deployments', owner, spec.deploymentName, {
      spec: { ...wanted, replicas: spec.replicas },
    });
    const availableReplicas = made.status?.availableReplicas ?? 0;
    if (status?.availableReplicas === availableReplicas) return;
    await this.#setStatus(foos, 'foos', metadata, { availableReplicas });
  }

  /** The object of this name; makes it where it is missing. */
  async #ensure<T>(base: string, plural: string, owner: Owner, name: string, body: object): Promise<T> {
    const { apiVersion, kind, metadata } = owner;
    const path = `${base}/namespaces/${metadata.namespace}/${plural}`;
    try {
      return await this.#client.get<T>(`${path}/${name}`);
    } catch (error) {
      if (!(error instanceof ApiError && error.httpStatus === 404)) throw error;
    }
    const reference = { apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true };
    const ownerReferences = [{ ...reference, blockOwnerDeletion: true }];
    return this.#client.post<T>(path, { metadata: { name, labels: { app: name }, ownerReferences }, ...body });
  }

  /** The kinds have no status subresource: the status is part of the object. */
  async #setStatus(group: string, plural: string, { namespace, name }: Metadata, status: object): Promise<void> {
    await this.#client.patch(`/apis/${group}/namespaces/${namespace}/${plural}/${name}`, 'merge', { status });
  }

  async #event({ apiVersion, kind, metadata }: Owner, type: string, reason: string, message: string): Promise<void> {
    const { name, namespace, uid } = metadata;
    const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
    await this.#client.post(`/api/v1/namespaces/${namespace}/events`, {
      metadata: { generateName: `${name}.` },
      involvedObject: { apiVersion, kind, name, namespace, uid },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
      source: { component: 'platform-controller' },
    });
  }
}

const apps = '/apis/apps/v1';

function workload({ name, image }: Component, container: object = {}) {
  const labels = { app: name };
  return {
    replicas: 1,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'main', image, ...container }] } },
  };
}

function database({ storage, ...component }: Component & { readonly storage: Storage }, ownsClaims: boolean): object {
  return {
    ...workload(component, { volumeMounts: [{ name: 'data', mountPath: '/var/lib/db' }] }),
    ...(ownsClaims ? { persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete', whenScaled: 'Retain' } } : {}),
    volumeClaimTemplates: [
      {
        metadata: { name: 'data' },
        spec: {
          storageClassName: storage.class,
          accessModes: storage.accessModes,
          resources: { requests: { storage: storage.size } },
        },
      },
    ],
  };
}

/** Not found, a conflict, and too many requests: the last is also the answer while the storage of a changed definition is made anew. */
const temporary: ReadonlySet<number> = new Set([404, 409, 429]);

async function orNextRound(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ApiError && temporary.has(error.httpStatus))) throw error;
  }
}
