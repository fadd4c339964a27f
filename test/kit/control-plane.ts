/**
 * A real control plane for tests: etcd, kube-apiserver and kube-controller-manager on loopback ports.
 *
 * Owns: the processes it starts, their folder, and their end: on `stop`, and when this process ends in any way at all.
 * Never: touches a process it did not start, or listens on anything but loopback.
 *
 * The life of one: free ports are bound and let go -> etcd, then the API server, then the controllers -> ready when
 * /readyz says ok. `killApiServer` and `startApiServer` go in between as a test likes; etcd keeps the objects.
 *
 * Each process has a small shell above it that waits for word on a pipe. A signal's name is passed on; the pipe's end,
 * which comes even when this process is killed, means to end the process and to remove the folder.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '../../src/base/must.ts';
import { eventually } from './eventually.ts';

export interface ControlPlane {
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
  /** A kubeconfig of another token, for a user without groups; `user` without one gives a token nobody knows. */
  kubeconfigFor(user: 'nobody' | 'unknown'): string;
  /** Standard output of kubectl as the administrator. Rejects with its standard error. */
  kubectl(args: readonly string[], stdin?: string): Promise<string>;
  /** A kubeconfig of any user, at the API server or at what stands before it. */
  writeKubeconfig(name: string, user: object, server?: string): string;
  /** Who is known by a token beside the administrator; takes effect when the API server is started. */
  setTokens(users: readonly TokenUser[]): void;
  killApiServer(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
  startApiServer(options?: ApiServerOptions): Promise<void>;
  /** Whether objects of CRDs can be created: API servers before 1.23, built with Go 1.18 or later, crash on them. Starts it anew then. */
  takesCustomObjects(): Promise<boolean>;
  /** Forgets everything in etcd but the present: what asks for an earlier revision gets 410 from there. Gives the present revision. */
  compactEtcd(): Promise<number>;
  stop(): Promise<void>;
}

export interface TokenUser {
  readonly token: string;
  readonly user: string;
  readonly groups: readonly string[];
}

export interface ApiServerOptions {
  /** False lets watches and lists go to etcd, which remembers until it is compacted; true by default. */
  readonly watchCache?: boolean;
}

/** The folder of the binaries in envtest's layout, or null when the environment names none. */
export function controlPlaneAssets(): string | null {
  const dir = process.env['KUBEBUILDER_ASSETS'] ?? '';
  return dir !== '' && existsSync(join(dir, 'kube-apiserver')) && existsSync(join(dir, 'etcd')) ? dir : null;
}

/** Starts a control plane. Rejects with the end of the log of the process that failed. */
export async function startControlPlane(
  options: { readonly controllerManager?: boolean; readonly dir?: string } = {},
): Promise<ControlPlane> {
  const assets = must(controlPlaneAssets(), 'KUBEBUILDER_ASSETS names a folder with etcd and kube-apiserver');
  const dir = options.dir ?? mkdtempSync(join(tmpdir(), 'portolan-control-plane-'));
  const plane = new Plane(assets, dir, await freePorts(3), options.dir === undefined);
  try {
    await plane.start(options.controllerManager ?? false);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

const readyWithinMs = 60_000;

/** `$1` is the folder to remove when nobody is left, or empty; the rest is the command. */
const keeper = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
(
  if read -r signal <&3; then kill -s "$signal" $child
  else trap '' TERM; kill -s KILL $child; sleep 0.2; [ -z "$folder" ] || rm -rf "$folder"
  fi
) &
wait $child
code=$?
kill $! 2>/dev/null
exit $code
`;

class Plane implements ControlPlane {
  readonly server: string;
  readonly kubeconfigPath: string;
  readonly dir: string;
  readonly #assets: string;
  readonly #ports: { readonly client: number; readonly peer: number; readonly secure: number };
  readonly #ownsDir: boolean;
  readonly token = randomBytes(16).toString('hex');
  readonly nobodyToken = randomBytes(16).toString('hex');
  readonly #processes = new Map<string, ChildProcess>();
  constructor(assets: string, dir: string, ports: readonly number[], ownsDir: boolean) {
    this.#assets = assets;
    this.dir = dir;
    this.#ownsDir = ownsDir;
    const [client, peer, secure] = ports;
    this.#ports = {
      client: must(client, 'a port for etcd'),
      peer: must(peer, 'a port for etcd peers'),
      secure: must(secure, 'a port for the API server'),
    };
    this.server = `https://127.0.0.1:${this.#ports.secure}`;
    this.kubeconfigPath = join(dir, 'admin.yaml');
  }

  async start(controllerManager: boolean): Promise<void> {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    writeFileSync(join(this.dir, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
    writeFileSync(join(this.dir, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
    this.setTokens([]);
    const { client, peer } = this.#ports;
    this.#spawn('etcd', [
      `--data-dir=${join(this.dir, 'etcd')}`,
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
      '--unsafe-no-fsync',
    ]);
    await this.startApiServer();
    this.writeKubeconfig('admin', { token: this.token });
    if (controllerManager) {
      this.#spawn('kube-controller-manager', [
        `--kubeconfig=${this.kubeconfigPath}`,
        `--authentication-kubeconfig=${this.kubeconfigPath}`,
        `--authorization-kubeconfig=${this.kubeconfigPath}`,
        `--service-account-private-key-file=${join(this.dir, 'sa.key')}`,
        '--leader-elect=false',
        '--port=0',
        '--secure-port=0',
        '--controllers=*,-nodeipam,-route,-service,-cloud-node-lifecycle,-bootstrapsigner,-tokencleaner,-csrsigning,-csrapproving',
      ]);
    }
  }

  setTokens(users: readonly TokenUser[]): void {
    const known = [
      { token: this.token, user: 'admin', groups: ['system:masters'] },
      { token: this.nobodyToken, user: 'nobody', groups: [] },
      ...users,
    ];
    const lines = known.map(({ token, user, groups }) => `${token},${user},${user},"${groups.join(',')}"\n`);
    writeFileSync(join(this.dir, 'tokens.csv'), lines.join(''), { mode: 0o600 });
  }

  async startApiServer(options: ApiServerOptions = {}): Promise<void> {
    this.#spawn('kube-apiserver', [
      `--etcd-servers=http://127.0.0.1:${this.#ports.client}`,
      `--secure-port=${this.#ports.secure}`,
      '--bind-address=127.0.0.1',
      '--insecure-port=0',
      `--cert-dir=${this.dir}`,
      `--service-account-key-file=${join(this.dir, 'sa.pub')}`,
      `--service-account-signing-key-file=${join(this.dir, 'sa.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--token-auth-file=${join(this.dir, 'tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--service-cluster-ip-range=10.0.0.0/24',
      '--disable-admission-plugins=ServiceAccount',
      '--allow-privileged',
      `--watch-cache=${options.watchCache ?? true}`,
    ]);
    const deadline = Date.now() + readyWithinMs;
    while (!(await this.#ready())) {
      for (const name of ['etcd', 'kube-apiserver']) {
        const child = must(this.#processes.get(name), `${name} was started`);
        if (child.exitCode !== null || child.signalCode !== null) throw new Error(this.#lastWords(name, 'ended'));
      }
      if (Date.now() > deadline) throw new Error(this.#lastWords('kube-apiserver', 'is not ready'));
      await sleep(100);
    }
  }

  async killApiServer(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await this.#end('kube-apiserver', signal);
  }

  async takesCustomObjects(): Promise<boolean> {
    const group = 'probe.portolan.example';
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `probes.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural: 'probes', singular: 'probe', kind: 'Probe' },
        versions: [{ name: 'v1', served: true, storage: true, schema }],
      },
    };
    const probe = JSON.stringify({ apiVersion: `${group}/v1`, kind: 'Probe', metadata: { name: 'probe' } });
    await this.kubectl(['create', '-f', '-'], JSON.stringify(definition));
    await this.kubectl(['wait', `crd/probes.${group}`, '--for=condition=Established', '--timeout=20s']);
    const server = must(this.#processes.get('kube-apiserver'), 'kube-apiserver was started');
    let crashed = false;
    server.once('exit', () => {
      crashed = true;
    });
    // What is just established may not be found for a moment yet.
    const taken = await eventually(async () => {
      if (!crashed) await this.kubectl(['create', '-f', '-'], probe);
      return !crashed;
    });
    if (!taken) await this.startApiServer();
    await this.kubectl(['delete', `crd/probes.${group}`]);
    return taken;
  }

  async compactEtcd(): Promise<number> {
    const revision = Number((await this.#etcd('range', { key: btoa('/') })).header?.revision);
    await this.#etcd('compaction', { revision, physical: true });
    return revision;
  }

  async stop(): Promise<void> {
    for (const name of ['kube-controller-manager', 'kube-apiserver', 'etcd']) await this.#end(name, 'SIGKILL');
    if (this.#ownsDir) rmSync(this.dir, { recursive: true, force: true });
  }

  caPem(): string {
    return readFileSync(join(this.dir, 'apiserver.crt'), 'utf8');
  }

  kubeconfigFor(user: 'nobody' | 'unknown'): string {
    return this.writeKubeconfig(user, { token: user === 'nobody' ? this.nobodyToken : 'no-such-token' });
  }

  kubectl(args: readonly string[], stdin?: string): Promise<string> {
    const own = join(this.#assets, 'kubectl');
    return new Promise((resolve, reject) => {
      const child = execFile(
        existsSync(own) ? own : 'kubectl',
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

  #spawn(name: string, args: readonly string[]): void {
    const log = openSync(join(this.dir, `${name}.log`), 'a');
    const folder = this.#ownsDir ? this.dir : '';
    const command = ['-c', keeper, 'keeper', folder, join(this.#assets, name), ...args];
    const child = spawn('/bin/sh', command, { stdio: ['pipe', log, log] });
    closeSync(log);
    child.on('error', () => {});
    child.stdin?.on('error', () => {});
    this.#processes.set(name, child);
  }

  async #end(name: string, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = this.#processes.get(name);
    if (child === undefined) return;
    this.#processes.delete(name);
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.stdin?.write(`${signal.replace('SIG', '')}\n`);
    await ended;
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

  #lastWords(name: string, what: string): string {
    const log = readFileSync(join(this.dir, `${name}.log`), 'utf8');
    return `${name} ${what}; its log ends with:\n${log.split('\n').slice(-15).join('\n')}`;
  }

  /** The JSON gateway of etcd. */
  async #etcd(call: string, body: object): Promise<{ readonly header?: { readonly revision?: string } }> {
    const url = `http://127.0.0.1:${this.#ports.client}/v3/kv/${call}`;
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
