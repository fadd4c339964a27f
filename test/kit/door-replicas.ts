/**
 * Two gateways with `--aggregate` in processes of their own, behind one port, as replicas are behind a Service. Each reaches the API server
 * through a gate of its own.
 *
 *   kube-apiserver -> port -> the process in turn -> its gate -> kube-apiserver
 */
import { once } from 'node:events';
import { request } from 'node:https';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { must } from '../../src/base/must.ts';
import { connect as connectTo } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type AggregatedPlaneOptions, startAggregatedPlane } from './aggregated-plane.ts';
import type { ControlPlane } from './control-plane.ts';
import { eventually } from './eventually.ts';
import type { GatewayProcess } from './gateway-process.ts';
import { flagArguments, startDoor } from './start-door.ts';
import { startWriteGate, type WriteGate } from './write-gate.ts';

export type ReplicaName = 'one' | 'two';

interface Replica {
  readonly gate: WriteGate;
  readonly kubeconfig: string;
  process: GatewayProcess | null;
  port: number;
  readonly sockets: Set<Socket>;
}

export class DoorReplicas {
  readonly #args: readonly string[];
  readonly #cache: string;
  readonly #replicas: Readonly<Record<ReplicaName, Replica>>;
  readonly #server: Server;
  #turn: ReplicaName = 'one';

  private constructor(args: readonly string[], cache: string, replicas: Readonly<Record<ReplicaName, Replica>>) {
    this.#args = args;
    this.#cache = cache;
    this.#replicas = replicas;
    this.#server = createServer((inner) => this.#lead(inner));
  }

  /** Resolves when both listen. @param flags as `runGateway` takes them; `'true'` for a flag without a value */
  static async start(plane: ControlPlane, flags: Readonly<Record<string, unknown>>): Promise<DoorReplicas> {
    const replica = async (name: ReplicaName): Promise<Replica> => {
      const gate = await startWriteGate({ url: plane.server, ca: plane.caPem() });
      const kubeconfig = plane.writeKubeconfig(`replica-${name}`, { token: plane.token }, gate.url);
      return { gate, kubeconfig, process: null, port: 0, sockets: new Set() };
    };
    const started = new DoorReplicas(flagArguments(flags), join(plane.dir, 'compiled'), {
      one: await replica('one'),
      two: await replica('two'),
    });
    started.#server.listen(0, '127.0.0.1');
    await once(started.#server, 'listening');
    try {
      await Promise.all([started.restart('one'), started.restart('two')]);
      return started;
    } catch (error) {
      await started.close();
      throw error;
    }
  }

  /** Leads to the replica in turn. */
  get aggregatePort(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  gate(name: ReplicaName): WriteGate {
    return this.#replicas[name].gate;
  }

  /** The address of one replica itself. */
  portOf(name: ReplicaName): number {
    return this.#replicas[name].port;
  }

  /** New connections lead to this replica. */
  leadTo(name: ReplicaName): void {
    this.#turn = name;
  }

  /** As `leadTo`, and connections to the other one are cut. */
  turnTo(name: ReplicaName): void {
    this.leadTo(name);
    for (const socket of this.#replicas[otherThan(name)].sockets) socket.destroy();
  }

  /** Starts the process. Resolves when it is ready. */
  async restart(name: ReplicaName): Promise<void> {
    const replica = this.#replicas[name];
    const { process, port } = await startDoor(['--kubeconfig', replica.kubeconfig, ...this.#args], {
      // Tests start many processes.
      NODE_COMPILE_CACHE: this.#cache,
    });
    replica.process = process;
    replica.port = port;
    await eventually(() => requireReadyDoor(replica.port), 60_000);
  }

  async kill(name: ReplicaName): Promise<void> {
    const { process } = this.#replicas[name];
    this.#replicas[name].process = null;
    await process?.kill();
  }

  /** Ends it by SIGTERM. */
  async stop(name: ReplicaName): Promise<void> {
    const { process } = this.#replicas[name];
    this.#replicas[name].process = null;
    await process?.close();
  }

  async close(): Promise<void> {
    await Promise.all([this.kill('one'), this.kill('two')]);
    for (const { gate } of Object.values(this.#replicas)) await gate.close();
    for (const { sockets } of Object.values(this.#replicas)) for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #lead(inner: Socket): void {
    const { port, sockets } = this.#replicas[this.#turn];
    const outer = connect(port, '127.0.0.1');
    for (const [socket, peer] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        peer.destroy();
      });
      socket.pipe(peer);
    }
  }
}

/** @param port of a door @throws while /readyz is not answered with 200. */
export function requireReadyDoor(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port, path: '/readyz', rejectUnauthorized: false, agent: false },
      (answer) => {
        answer.resume();
        if (answer.statusCode === 200) resolve();
        else reject(new Error(`/readyz answers ${answer.statusCode}`));
      },
    );
    asked.on('error', reject);
    asked.end();
  });
}

export interface ReplicatedPlane {
  readonly plane: ControlPlane;
  readonly replicas: DoorReplicas;
  /** The path of a kubeconfig of jane, who may do everything. @param url default: that of kube-apiserver */
  kubeconfig(url?: string): string;
  /** Asks kube-apiserver as jane. */
  readonly client: RestClient;
  stop(): Promise<void>;
}

/** A control plane whose APIService leads to the replicas. Resolves when it is available. */
export async function startReplicatedPlane(
  server: NonNullable<AggregatedPlaneOptions['server']>,
): Promise<ReplicatedPlane> {
  const token = 'token-of-jane';
  const started: DoorReplicas[] = [];
  const { plane, stop } = await startAggregatedPlane({
    server,
    flags: { impersonate: 'constrained' },
    users: [{ token, user: 'jane', groups: ['devs'] }],
    prepare: async (prepared) => {
      await prepared.kubectl(['create', 'clusterrolebinding', 'jane', '--clusterrole=cluster-admin', '--user=jane']);
    },
    run: async (...given) => {
      const replicas = await DoorReplicas.start(...given);
      started.push(replicas);
      return replicas;
    },
  });
  const kubeconfig = (url?: string): string =>
    plane.writeKubeconfig(url === undefined ? 'jane' : 'jane-elsewhere', { token }, url);
  const client = new RestClient(await connectTo({ env: {}, name: 'jane', kubeconfig: kubeconfig() }));
  return {
    plane,
    replicas: must(started[0], 'the replicas have started'),
    kubeconfig,
    client,
    async stop() {
      await client.connection.close();
      await stop();
    },
  };
}

export function otherThan(name: ReplicaName): ReplicaName {
  return name === 'one' ? 'two' : 'one';
}
