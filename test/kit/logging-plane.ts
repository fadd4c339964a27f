/** A real control plane whose Pods have logs: one Node with a fake kubelet, and Pods that are bound to it. */
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type CertificateAuthority, createCertificateAuthority } from './certificates.ts';
import { type ControlPlane, startControlPlane, type TokenUser } from './control-plane.ts';
import { FakeKubelet } from './fake-kubelet.ts';
import type { RealServer } from './real-servers.ts';

interface PodParts {
  readonly containers?: readonly string[];
  readonly initContainers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly owner?: { readonly apiVersion: string; readonly kind: string; readonly name: string; readonly uid: string };
  /** The containers run. Otherwise they wait. */
  readonly runs?: boolean;
}

export class LoggingPlane {
  readonly plane: ControlPlane;
  readonly api: RestClient;
  readonly kubelet: FakeKubelet;
  readonly #authority: CertificateAuthority;

  private constructor(plane: ControlPlane, api: RestClient, kubelet: FakeKubelet, authority: CertificateAuthority) {
    this.plane = plane;
    this.api = api;
    this.kubelet = kubelet;
    this.#authority = authority;
  }

  static async start(server: RealServer, users: readonly TokenUser[] = []): Promise<LoggingPlane> {
    const plane = await startControlPlane({ server, users });
    const api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath }));
    const authority = await createCertificateAuthority();
    const kubelet = await FakeKubelet.start(authority);
    await api.post('/api/v1/nodes', { metadata: { name: 'node' } });
    await api.patch('/api/v1/nodes/node/status', 'merge', { status: kubelet.nodeStatus });
    return new LoggingPlane(plane, api, kubelet, authority);
  }

  namespace(name: string): Promise<unknown> {
    return this.api.post('/api/v1/namespaces', { metadata: { name } });
  }

  /** Creates a Pod. Returns its uid. */
  async pod(namespace: string, name: string, parts: PodParts = {}): Promise<string> {
    const { containers = ['app'], initContainers = [], labels = {}, owner, runs = true } = parts;
    const image = 'registry.example/app';
    const made = await this.api.post<{ metadata: { uid: string } }>(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name, labels, ...(owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: true }] }) },
      spec: {
        nodeName: 'node',
        terminationGracePeriodSeconds: 0,
        containers: containers.map((each) => ({ name: each, image })),
        initContainers: initContainers.map((each) => ({ name: each, image })),
      },
    });
    if (runs) {
      await this.status(namespace, name, {
        phase: 'Running',
        containerStatuses: containers.map((each) => running(each, 0)),
        initContainerStatuses: initContainers.map((each) => terminated(each, 0, 0)),
      });
    }
    return made.metadata.uid;
  }

  /** Adds an ephemeral container that runs. */
  async debug(namespace: string, name: string, container: string): Promise<void> {
    const image = 'registry.example/app';
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/ephemeralcontainers`;
    await this.api.patch(path, 'strategic', { spec: { ephemeralContainers: [{ name: container, image }] } });
    await this.status(namespace, name, { ephemeralContainerStatuses: [running(container, 0)] });
  }

  status(namespace: string, name: string, status: object): Promise<unknown> {
    return this.api.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, 'merge', { status });
  }

  delete(namespace: string, name: string): Promise<unknown> {
    return this.api.delete(`/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
  }

  async stop(): Promise<void> {
    await this.api.connection.close();
    await this.kubelet.close();
    this.#authority.remove();
    await this.plane.stop();
  }
}

const common = { image: 'registry.example/app', imageID: '', ready: true };

export function running(name: string, restartCount: number): object {
  return { ...common, name, restartCount, state: { running: { startedAt: new Date().toISOString() } } };
}

export function terminated(name: string, restartCount: number, exitCode: number): object {
  const at = new Date().toISOString();
  const ended = { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', startedAt: at, finishedAt: at };
  return { ...common, name, restartCount, ready: false, state: { terminated: ended } };
}
