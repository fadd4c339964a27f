/**
 * Runs the Pods of a Deployment as processes of this machine. It does for them what kubelet and kube-proxy do. Deployment, ReplicaSets and
 * EndpointSlices are those of the real controllers.
 *
 *   a Pod without a Node          bound -> a process with the arguments and the files of the manifest -> probed -> the status is written
 *   a Pod that is deleted         preStop -> SIGTERM -> the process ends -> the Pod is gone
 *   a connection to the Service   goes to an endpoint that is ready, and stays there
 *
 * A Pod and a process have addresses with the same end: an EndpointSlice may not have those of loopback.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../src/base/errors.ts';
import { must } from '../../src/base/must.ts';
import type { RestClient } from '../../src/kube/client/rest-client.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
}

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly spec: {
    readonly containers: readonly {
      readonly args: readonly string[];
      readonly ports: readonly { readonly containerPort: number }[];
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
      readonly readinessProbe: { readonly httpGet: { readonly path: string } };
      readonly lifecycle?: { readonly preStop: { readonly sleep: { readonly seconds: number } } };
    }[];
    readonly volumes: readonly Volume[];
  };
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean };
}

interface ProcessPodsOptions {
  /** Of the administrator. */
  readonly client: RestClient;
  readonly namespace: string;
  /** Of the Pods, such as `app=web`. */
  readonly selector: string;
  /** The Service of the Pods. */
  readonly service: string;
  /** A kubeconfig of the account of the Pods, which is their credential in the cluster. */
  readonly kubeconfig: string;
  /** For the files of the Pods. */
  readonly folder: string;
}

export interface ProcessPods {
  /** What went wrong with a Pod or a connection. */
  readonly failures: readonly string[];
  /** The names of the Pods whose processes run. */
  names(): readonly string[];
  close(): Promise<void>;
}

interface RunningPod {
  /** The last part of its addresses. It is used once. */
  readonly number: number;
  /** Null until it listens. */
  process: GatewayProcess | null;
  /** Resolves when the process listens or has failed to start. */
  started: Promise<void>;
  isReady: boolean;
}

const node = 'processes';
const shown = (number: number): string => `10.9.0.${number}`;
const real = (address: string): string => address.replace(/^10\./, '127.');
const lookMs = 200;

/** Resolves when the Service has its address. */
export async function runProcessPods(options: ProcessPodsOptions): Promise<ProcessPods> {
  const running = new RunningPods(options);
  await running.start();
  return running;
}

class RunningPods implements ProcessPods {
  readonly failures: string[] = [];
  readonly #options: ProcessPodsOptions;
  readonly #known = new Map<string, RunningPod>();
  readonly #ending = new Map<string, Promise<void>>();
  readonly #sockets = new Set<Socket>();
  #endpoints: readonly string[] = [];
  #server: Server | null = null;
  #looking: Promise<void> | null = null;
  #closed = false;
  #lastNumber = 1;
  #renewed = 0;

  constructor(options: ProcessPodsOptions) {
    this.#options = options;
  }

  names(): readonly string[] {
    return [...this.#known.keys()];
  }

  async start(): Promise<void> {
    const { client, namespace, service } = this.#options;
    await client.post('/api/v1/nodes', { kind: 'Node', apiVersion: 'v1', metadata: { name: node } });
    await client.patch(`/api/v1/nodes/${node}/status`, 'merge', {
      status: {
        capacity: { cpu: '32', memory: '256Gi', pods: '250' },
        conditions: [{ type: 'Ready', status: 'True', reason: 'Test', lastHeartbeatTime: new Date().toISOString() }],
      },
    });
    await this.#renew();
    const { spec } = await client.get<{
      spec: { readonly clusterIP: string; readonly ports: readonly { readonly port: number }[] };
    }>(`/api/v1/namespaces/${namespace}/services/${service}`);
    this.#server = await this.#listen(spec.clusterIP, must(spec.ports[0], 'a port').port);
    this.#looking = this.#look();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#looking;
    await Promise.all(this.#ending.values());
    for (const known of this.#known.values()) {
      await known.started;
      await known.process?.kill();
    }
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #look(): Promise<void> {
    while (!this.#closed) {
      try {
        await this.#once();
      } catch (error) {
        this.failures.push(`a look at the Pods: ${messageOf(error)}`);
      }
      await sleep(lookMs);
    }
  }

  async #once(): Promise<void> {
    const { client, namespace, selector, service } = this.#options;
    if (performance.now() - this.#renewed > 5000) await this.#renew();
    const { items } = await client.get<{ readonly items: readonly Pod[] }>(`/api/v1/namespaces/${namespace}/pods`, {
      query: { labelSelector: selector },
    });
    for (const pod of items) {
      const { name, deletionTimestamp } = pod.metadata;
      if (deletionTimestamp === undefined && !this.#known.has(name)) await this.#run(pod);
      if (deletionTimestamp !== undefined && !this.#ending.has(name)) this.#ending.set(name, this.#end(pod));
      await this.#probe(pod);
    }
    const slices = await client.get<{ readonly items: readonly { readonly endpoints?: readonly Endpoint[] | null }[] }>(
      `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
      { query: { labelSelector: `kubernetes.io/service-name=${service}` } },
    );
    this.#endpoints = slices.items.flatMap(({ endpoints }) =>
      (endpoints ?? []).filter(({ conditions }) => conditions.ready === true).flatMap(({ addresses }) => addresses),
    );
  }

  async #renew(): Promise<void> {
    this.#renewed = performance.now();
    const path = `/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/${node}`;
    const lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name: node },
      spec: {
        holderIdentity: node,
        leaseDurationSeconds: 40,
        renewTime: new Date().toISOString().replace('Z', '000Z'),
      },
    };
    await this.#options.client.patch(path, 'apply', lease, { query: { fieldManager: node, force: 'true' } });
  }

  async #run(pod: Pod): Promise<void> {
    const { client, namespace, folder, kubeconfig } = this.#options;
    const { name } = pod.metadata;
    this.#lastNumber += 1;
    const known: RunningPod = { number: this.#lastNumber, process: null, started: Promise.resolve(), isReady: false };
    this.#known.set(name, known);
    await client.post(`/api/v1/namespaces/${namespace}/pods/${name}/binding`, {
      ...{ apiVersion: 'v1', kind: 'Binding', metadata: { name }, target: { kind: 'Node', name: node } },
    });
    const container = must(pod.spec.containers[0], 'a container');
    const mounts = new Map(container.volumeMounts.map((mount) => [mount.mountPath, join(folder, name, mount.name)]));
    const longestFirst = [...mounts.keys()].sort((a, b) => b.length - a.length);
    const paths = new RegExp(`(?<![\\w/])(?:${longestFirst.join('|')})(?=/)`, 'g');
    const localised = (text: string): string => text.replace(paths, (path) => must(mounts.get(path), path));
    for (const { name: volume, configMap, secret } of pod.spec.volumes) {
      const place = join(folder, name, volume);
      mkdirSync(place, { recursive: true });
      const source = configMap === undefined ? `secrets/${secret?.secretName}` : `configmaps/${configMap.name}`;
      if (configMap === undefined && secret === undefined) continue;
      const { data } = await client.get<{ readonly data: Readonly<Record<string, string>> }>(
        `/api/v1/namespaces/${namespace}/${source}`,
      );
      for (const [file, content] of Object.entries(data)) {
        const text = configMap === undefined ? Buffer.from(content, 'base64').toString() : localised(content);
        // What a Pod has from its cluster, it has here from a kubeconfig.
        writeFileSync(join(place, file), text.replace('inCluster: true', `kubeconfig: ${kubeconfig}`));
      }
    }
    const address = real(shown(known.number));
    const args = container.args.slice(1).map((arg) => (/^(127\.0\.0\.1|0\.0\.0\.0)$/.test(arg) ? address : arg));
    known.started = startGatewayProcess(args.map(localised)).then(
      (process) => {
        known.process = process;
      },
      (error: unknown) => {
        this.failures.push(`${name} did not start: ${messageOf(error)}`);
      },
    );
  }

  async #probe(pod: Pod): Promise<void> {
    const { client, namespace } = this.#options;
    const { name } = pod.metadata;
    const known = this.#known.get(name);
    const container = must(pod.spec.containers[0], 'a container');
    if (known === undefined || known.process === null) return;
    const host = real(shown(known.number));
    const port = must(container.ports[0], 'a port').containerPort;
    const isReady = await answersOk(host, port, container.readinessProbe.httpGet.path);
    if (isReady === known.isReady) return;
    known.isReady = isReady;
    const status = isReady ? 'True' : 'False';
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/status`;
    await client.patch(path, 'merge', {
      status: {
        phase: 'Running',
        podIP: shown(known.number),
        podIPs: [{ ip: shown(known.number) }],
        conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status })),
      },
    });
  }

  async #end(pod: Pod): Promise<void> {
    const { client, namespace } = this.#options;
    const { name, uid } = pod.metadata;
    try {
      await sleep((pod.spec.containers[0]?.lifecycle?.preStop.sleep.seconds ?? 0) * 1000);
      const known = this.#known.get(name);
      await known?.started;
      await known?.process?.close();
      this.#known.delete(name);
      const body = { kind: 'DeleteOptions', apiVersion: 'v1', gracePeriodSeconds: 0, preconditions: { uid } };
      await client.delete(`/api/v1/namespaces/${namespace}/pods/${name}`, body);
    } catch (error) {
      this.failures.push(`the end of ${name}: ${messageOf(error)}`);
    }
  }

  async #listen(address: string, port: number): Promise<Server> {
    const server = createServer({ allowHalfOpen: true }, (inner) => {
      const address = this.#endpoints[Math.floor(Math.random() * this.#endpoints.length)];
      if (address === undefined) return void inner.resetAndDestroy();
      const outer = connect({ host: real(address), port: 4443, allowHalfOpen: true });
      const refused = (error: Error): unknown => this.failures.push(`no connection to ${address}: ${messageOf(error)}`);
      outer.once('error', refused);
      outer.once('connect', () => outer.off('error', refused));
      for (const [socket, peer] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        this.#sockets.add(socket);
        socket.on('error', () => peer.destroy());
        socket.on('close', () => this.#sockets.delete(socket));
        socket.pipe(peer);
      }
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, address, resolve);
    });
    return server;
  }
}

function answersOk(host: string, port: number, path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ host, port, path, rejectUnauthorized: false, agent: false, timeout: 3000 }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode === 200));
      answer.on('error', () => resolve(false));
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
