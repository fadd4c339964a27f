/**
 * A port of loopback that leads to a Service of a cluster, by `kubectl port-forward`.
 *
 *   openPortForward -> kubectl get services -> kubectl port-forward :PORT -> "Forwarding from 127.0.0.1:43123 -> 4000" -> close: SIGTERM
 *
 * Invariant: kubectl ends with `close`, and at the latest with this process. Between, the port stays the same.
 * Never: looks for a Service outside the namespace of the user. The caller's token goes to the Service, so users of other namespaces must not be able to offer one.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { z } from 'zod';
import { Backoff } from '../../base/backoff.ts';
import { systemClock } from '../../base/clock.ts';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { oneLine } from '../../base/text/terminal-line.ts';

interface PortForward {
  /** `http://127.0.0.1:43123`, or https for a gateway with TLS. */
  readonly url: string;
  close(): Promise<void>;
}

interface ServiceChoice {
  /** Flags of kubectl that say where: --namespace, --context, --kubeconfig. */
  readonly where: readonly string[];
  /** The name of the Service. Without it, the one with the label of the gateway. */
  readonly service?: string | undefined;
}

const label = 'app.kubernetes.io/name=portolan';
/** Characters of kubectl's standard error that are kept. */
const mostComplaint = 10_000;

const service = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  spec: z.object({
    clusterIP: z.string().optional(),
    ports: z.array(z.object({ name: z.string().optional(), port: z.number(), appProtocol: z.string().optional() })),
  }),
});
type Service = z.output<typeof service>;

/**
 * kubectl ends a port-forward when its Pod goes. It is then started again for the same port, and leads to another Pod of the Service.
 * @throws PortolanError NOT_FOUND where there is not exactly one Service, UPSTREAM_UNAVAILABLE with the message of kubectl.
 */
export async function openPortForward(choice: ServiceChoice): Promise<PortForward> {
  const { metadata, spec } = await findService(choice);
  const port = spec.ports.find(({ name }) => name === 'https' || name === 'http') ?? spec.ports[0];
  if (port === undefined) throw new PortolanError('NOT_FOUND', `The Service ${metadata.name} has no port.`);
  const where = ['--namespace', metadata.namespace, ...withoutNamespace(choice.where)];
  const args = ['port-forward', ...where, '--address', '127.0.0.1', `service/${metadata.name}`];
  let current: KubectlForward | null = null;
  const closing = new AbortController();
  const kill = (): boolean => current?.child.kill('SIGTERM') ?? false;
  const onSignal = (signal: (typeof signals)[number]): void => {
    // A command with a listener of its own ends by itself, and closes the port-forward then.
    if (process.listenerCount(signal) === 0) process.exit(128 + constants.signals[signal]);
  };
  // Before kubectl starts: a signal right after it would leave it behind.
  process.once('exit', kill);
  for (const signal of signals) process.once(signal, onSignal);
  const first = startKubectl([...args, `:${port.port}`]);
  current = first;
  const close = async (): Promise<void> => {
    closing.abort();
    process.off('exit', kill);
    for (const signal of signals) process.off(signal, onSignal);
    kill();
    await current?.ended;
  };
  const local = await first.local;
  if (local === undefined) {
    await close();
    throw failed('port-forward', first.complaint());
  }
  const keepOpen = async (): Promise<void> => {
    const backoff = new Backoff(systemClock, Math.random);
    for (;;) {
      await current?.ended;
      await systemClock.sleep(backoff.next(), closing.signal);
      current = startKubectl([...args, `${local}:${port.port}`]);
    }
  };
  // Ends when the sleep is aborted.
  keepOpen().catch(() => {});
  const isTls = port.name === 'https' || port.appProtocol === 'https';
  return { url: `${isTls ? 'https' : 'http'}://127.0.0.1:${local}`, close };
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface KubectlForward {
  readonly child: ChildProcess;
  /** The port of loopback; undefined if kubectl ended without one. */
  readonly local: Promise<string | undefined>;
  readonly ended: Promise<void>;
  complaint(): string;
}

function startKubectl(args: readonly string[]): KubectlForward {
  const child = spawn('kubectl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<void>((resolve) => void child.on('error', () => resolve()).on('exit', () => resolve()));
  let complaint = '';
  child.stderr.on('data', (text) => {
    complaint = `${complaint}${text}`.slice(0, mostComplaint);
  });
  // The lines are read to the end, because kubectl writes one for each connection.
  const local = new Promise<string | undefined>((resolve) => {
    createInterface({ input: child.stdout })
      .on('line', (line) => {
        const [, port] = /^Forwarding from 127\.0\.0\.1:(\d+) /.exec(line) ?? [];
        if (port !== undefined) resolve(port);
      })
      .on('close', () => resolve(undefined));
  });
  return { child, local, ended, complaint: () => complaint };
}

async function findService({ where, service: name }: ServiceChoice): Promise<Service> {
  const wanted = name === undefined ? ['--selector', label] : [`--field-selector=metadata.name=${name}`];
  const text = await kubectl(['get', 'services', ...where, ...wanted, '--output', 'json']);
  const { items } = z.object({ items: z.array(service) }).parse(JSON.parse(text));
  // A StatefulSet has a headless Service too.
  const reachable = items.filter(({ spec }) => spec.clusterIP !== 'None');
  const found = reachable.length === 0 ? items : reachable;
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (only === undefined) throw await noService(where, name);
  const names = found.map(({ metadata }) => metadata.name).join(', ');
  throw new PortolanError(
    'NOT_FOUND',
    `There are several Services with the label ${label}: choose one with --service (${names}).`,
  );
}

/** kubectl lists nothing in a namespace that does not exist, without an error. */
async function noService(where: readonly string[], name: string | undefined): Promise<PortolanError> {
  const at = where.indexOf('--namespace');
  const namespace = at === -1 ? undefined : where[at + 1];
  if (namespace !== undefined && !(await mayExist(namespace, where))) {
    return new PortolanError(
      'NOT_FOUND',
      `There is no namespace ${namespace} in the cluster: name that of the gateway with --namespace.`,
    );
  }
  const what = name === undefined ? `Service with the label ${label}` : `Service ${name}`;
  const place = namespace === undefined ? 'namespace of the context' : `namespace ${namespace}`;
  return new PortolanError(
    'NOT_FOUND',
    `There is no ${what} in the ${place}: name that of the gateway with --namespace, or the gateway with --url.`,
  );
}

/** Not every user may ask. */
async function mayExist(namespace: string, where: readonly string[]): Promise<boolean> {
  try {
    await kubectl(['get', 'namespace', namespace, ...withoutNamespace(where)]);
    return true;
  } catch (error) {
    return !messageOf(error).includes('(NotFound)');
  }
}

async function kubectl(args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)('kubectl', args, { maxBuffer: 64 * 2 ** 20 })).stdout;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new PortolanError(
        'CONFIGURATION',
        'kubectl is not on the PATH: install it, or name the gateway with --url.',
      );
    }
    throw failed(args[0] ?? '', (error as { stderr?: string }).stderr ?? messageOf(error));
  }
}

function failed(what: string, complaint: string): PortolanError {
  const shown = oneLine(complaint.trim().replace(/\.$/, '')) || 'it ended without a message';
  return new PortolanError('UPSTREAM_UNAVAILABLE', `kubectl ${what} failed: ${shown}.`);
}

/** The namespace is that of the Service by then. */
function withoutNamespace(flags: readonly string[]): readonly string[] {
  return flags.filter((_flag, index) => flags[index] !== '--namespace' && flags[index - 1] !== '--namespace');
}
