/**
 * A real control plane for tests: etcd, kube-apiserver and kube-controller-manager on loopback ports.
 * With `runPods` it has kube-scheduler and kwok as well: Pods are bound to fake Nodes and run.
 *
 * Owns: the processes it starts, their folder, and their end: on `stop`, and when this process ends in any way at all.
 * Never: touches a process it did not start, or listens on anything but loopback.
 *
 * The life of one: free ports are bound and let go -> etcd -> the API server -> /readyz says ok -> controllers, scheduler, kwok.
 * A test may call `killApiServer` and `startApiServer` at any time; etcd keeps the objects.
 */
import { execFile } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../../src/base/must.ts';
import {
  type ApiServerOptions,
  apiServerFlags,
  type ControlPlanePlace,
  controllerManagerFlags,
  etcdFlags,
  kwokFlags,
  schedulerFlags,
} from './control-plane-flags.ts';
import { GuardedProcess } from './guarded-process.ts';
import type { KubeAsset, KubeAssets } from './kube-assets.ts';
import { mainServer, type RealServer } from './real-servers.ts';
import type { ServerVersion } from './server-version.ts';

export interface ControlPlane {
  readonly version: ServerVersion;
  /** `https://127.0.0.1:<port>`. */
  readonly server: string;
  /** A kubeconfig of the administrator, who has a token. */
  readonly kubeconfigPath: string;
  /** The folder of logs, keys and etcd's data. */
  readonly dir: string;
  /** Of the administrator, who is in system:masters. */
  readonly token: string;
  /** Of the user `nobody`, who has no groups and no rights. */
  readonly nobodyToken: string;
  /** PEM of the API server's own certificate. */
  caPem(): string;
  /** A kubeconfig of another token, for a user without groups; `unknown` has a token that the server does not know. */
  kubeconfigFor(user: 'nobody' | 'unknown'): string;
  /** Standard output of kubectl as the administrator. Rejects with its standard error. */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** A kubeconfig of any user, at the API server or at what stands before it. */
  writeKubeconfig(name: string, user: object, server?: string): string;
  /** Who is known by a token beside the administrator; takes effect when the API server is started. */
  setTokens(users: readonly TokenUser[]): void;
  killApiServer(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  startApiServer(options?: ApiServerOptions): Promise<void>;
  /** Kills the controller manager and starts a new one, which knows nothing. Needs `controllerManager`. */
  renewControllerManager(): Promise<void>;
  /** Forgets everything in etcd but the present: what asks for an earlier revision gets 410 from there. Gives the present revision. */
  compactEtcd(): Promise<number>;
  stop(): Promise<void>;
}

export interface TokenUser {
  readonly token: string;
  readonly user: string;
  readonly groups: readonly string[];
}

export interface ControlPlaneOptions {
  /** The server whose binaries are started; the main one by default. */
  readonly server?: RealServer;
  readonly controllerManager?: boolean;
  /** Starts kube-scheduler and kwok as well: Pods are bound to fake Nodes and run. Needs `podRunners`. */
  readonly runPods?: boolean;
  /** Of the first start of the API server. The function may write files into the folder of the plane first. */
  readonly apiServer?: ApiServerOptions | ((dir: string) => ApiServerOptions);
  /** Who is known by a token beside the administrator. */
  readonly users?: readonly TokenUser[];
  /** A folder to keep; a temporary one by default. */
  readonly dir?: string;
}

/** The files that `runPods` needs. */
export const podRunners: readonly KubeAsset[] = ['kube-scheduler', 'kwok', 'kwok-stages.yaml'];

/** Starts a control plane. Rejects with the end of the log of the process that failed. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { assets } = options.server ?? mainServer;
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'portolan-control-plane-'));
  const plane = new Plane(assets, dir, await freePorts(3), options.dir === undefined);
  try {
    await plane.start(options);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

const readyWithinMs = 60_000;

class Plane implements ControlPlane {
  readonly server: string;
  readonly kubeconfigPath: string;
  readonly dir: string;
  readonly token = randomBytes(16).toString('hex');
  readonly nobodyToken = randomBytes(16).toString('hex');
  readonly #place: ControlPlanePlace;
  readonly #ownsDir: boolean;
  readonly #processes = new Map<KubeAsset, GuardedProcess>();
  readonly #looks: NodeJS.Timeout[] = [];
  constructor(assets: KubeAssets, dir: string, ports: readonly number[], ownsDir: boolean) {
    this.dir = dir;
    this.#ownsDir = ownsDir;
    const [client, peer, secure] = ports;
    this.kubeconfigPath = join(dir, 'admin.yaml');
    this.#place = {
      assets,
      dir,
      ports: {
        client: must(client, 'a port for etcd'),
        peer: must(peer, 'a port for etcd peers'),
        secure: must(secure, 'a port for the API server'),
      },
      kubeconfigPath: this.kubeconfigPath,
    };
    this.server = `https://127.0.0.1:${this.#place.ports.secure}`;
  }

  get version(): ServerVersion {
    return this.#place.assets.version;
  }

  async start(options: ControlPlaneOptions): Promise<void> {
    const { controllerManager = false, runPods = false, apiServer = {}, users = [] } = options;
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(this.dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
    writeFileSync(join(this.dir, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    this.setTokens(users);
    this.#spawn('etcd', etcdFlags(this.#place));
    await this.startApiServer(typeof apiServer === 'function' ? apiServer(this.dir) : apiServer);
    this.writeKubeconfig('admin', { token: this.token });
    if (controllerManager) this.#keep('kube-controller-manager', controllerManagerFlags(this.#place));
    if (runPods) {
      this.#keep('kube-scheduler', schedulerFlags(this.#place));
      this.#keep('kwok', kwokFlags(this.#place));
    }
  }

  /** Starts a client of the API server, and starts it again when it has ended: it ends when the server does not answer for a while. */
  #keep(name: KubeAsset, args: readonly string[]): void {
    this.#spawn(name, args);
    const look = setInterval(() => {
      if (this.#process(name).ended) this.#spawn(name, args);
    }, 1000);
    this.#looks.push(look.unref());
  }

  setTokens(users: readonly TokenUser[]): void {
    const known = [
      { token: this.token, user: 'admin', groups: ['system:masters'] },
      { token: this.nobodyToken, user: 'nobody', groups: [] },
      ...users,
    ];
    // An empty column would be a group without a name.
    const columnOf = (groups: readonly string[]): string => (groups.length === 0 ? '' : `,"${groups.join(',')}"`);
    const lines = known.map(({ token, user, groups }) => `${token},${user},${user}${columnOf(groups)}\n`);
    writeFileSync(join(this.dir, 'tokens.csv'), lines.join(''), { mode: 0o600 });
  }

  async startApiServer(options: ApiServerOptions = {}): Promise<void> {
    this.#spawn('kube-apiserver', apiServerFlags(this.#place, options));
    const deadline = Date.now() + readyWithinMs;
    while (!(await this.#ready())) {
      for (const name of ['etcd', 'kube-apiserver'] as const)
        if (this.#process(name).ended) throw this.#process(name).failure('ended');
      if (Date.now() > deadline) throw this.#process('kube-apiserver').failure('is not ready');
      await sleep(100);
    }
  }

  async killApiServer(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.#processes.get('kube-apiserver')?.end(signal);
  }

  async renewControllerManager(): Promise<void> {
    await this.#process('kube-controller-manager').end('SIGKILL');
    this.#spawn('kube-controller-manager', controllerManagerFlags(this.#place));
  }

  async compactEtcd(): Promise<number> {
    const revision = Number((await this.#etcd('range', { key: btoa('/') })).header?.revision);
    await this.#etcd('compaction', { revision, physical: true });
    return revision;
  }

  async stop(): Promise<void> {
    for (const look of this.#looks) clearInterval(look);
    // The last that was started is the first to end: each speaks to those before it.
    for (const started of [...this.#processes.values()].reverse()) await started.end('SIGKILL');
    if (this.#ownsDir) rmSync(this.dir, { recursive: true, force: true });
  }

  caPem(): string {
    return readFileSync(join(this.dir, 'apiserver.crt'), 'utf8');
  }

  kubeconfigFor(user: 'nobody' | 'unknown'): string {
    return this.writeKubeconfig(user, { token: user === 'nobody' ? this.nobodyToken : 'no-such-token' });
  }

  kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const { assets } = this.#place;
    return new Promise((resolve, reject) => {
      const child = execFile(
        assets.has('kubectl') ? assets.path('kubectl') : 'kubectl',
        [`--kubeconfig=${this.kubeconfigPath}`, `--cache-dir=${join(this.dir, 'kubectl-cache')}`, ...args],
        { maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          if (error === null) resolve(stdout);
          else reject(new Error(`kubectl ${args.join(' ')}: ${stderr.trim() || error.message}`, { cause: error }));
        },
      );
      child.stdin?.on('error', () => {});
      child.stdin?.end(stdin ?? '');
    });
  }

  #spawn(name: KubeAsset, args: readonly string[]): void {
    const log = join(this.dir, `${name}.log`);
    const folder = this.#ownsDir ? this.dir : '';
    this.#processes.set(name, new GuardedProcess({ file: this.#place.assets.path(name), args, log, folder }));
  }

  #process(name: KubeAsset): GuardedProcess {
    return must(this.#processes.get(name), `${name} was started`);
  }

  /** Whether /readyz answers ok. The certificate is not checked: it is what the server has just made. */
  #ready(): Promise<boolean> {
    return new Promise((resolve) => {
      const asked = request(
        `${this.server}/readyz`,
        { rejectUnauthorized: false, agent: false, timeout: 5000, headers: { authorization: `Bearer ${this.token}` } },
        (answer) => {
          answer.resume();
          answer.on('end', () => resolve(answer.statusCode === 200));
          answer.on('error', () => resolve(false));
        },
      );
      asked.on('timeout', () => asked.destroy());
      asked.on('error', () => resolve(false));
      asked.end();
    });
  }

  /** The JSON gateway of etcd. */
  async #etcd(call: string, body: object): Promise<{ readonly header?: { readonly revision?: string } }> {
    const url = `http://127.0.0.1:${this.#place.ports.client}/v3/kv/${call}`;
    const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd ${call}: ${await answer.text()}`);
    return (await answer.json()) as { readonly header?: { readonly revision?: string } };
  }

  writeKubeconfig(name: string, user: object, server = this.server): string {
    const path = join(this.dir, `${name}.yaml`);
    const ca = Buffer.from(this.caPem()).toString('base64');
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      clusters: [{ name: 'test', cluster: { server, 'certificate-authority-data': ca } }],
      users: [{ name: 'test', user }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    };
    // JSON is YAML.
    writeFileSync(path, JSON.stringify(config, null, 2), { mode: 0o600 });
    return path;
  }
}

/** Ports that were free a moment ago, each another. */
async function freePorts(count: number): Promise<number[]> {
  const servers = await Promise.all(
    Array.from({ length: count }, async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      return server;
    }),
  );
  const ports = servers.map((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return ports;
}
