/**
 * A real control plane with an aggregator, a gateway with `--aggregate` over it, and the APIService that leads from one to the other. The
 * Service is an ExternalName of this machine. kube-apiserver checks the door's certificate for the name `door.portolan.svc`. The test's
 * authority signs it, or Portolan makes it.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../src/base/log.ts';
import { shadowRecordCrdText } from '../../src/sets/record/shadow-record-crd.ts';
import { type CertificateAuthority, createCertificateAuthority } from './certificates.ts';
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from './control-plane.ts';
import type { ApiServerOptions } from './control-plane-flags.ts';
import { eventually } from './eventually.ts';
import { type RunningGateway, runGateway } from './gateway.ts';
import { manifestList } from './manifests.ts';

/** What is needed of the gateway here. */
type DoorGateway = Pick<RunningGateway, 'aggregatePort' | 'close'>;

export interface AggregatedPlane {
  readonly plane: ControlPlane;
  readonly gateway: DoorGateway;
  readonly authority: CertificateAuthority;
  stop(): Promise<void>;
}

export interface AggregatedPlaneOptions extends Pick<ControlPlaneOptions, 'server' | 'controllerManager'> {
  /** Flags of the gateway. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** Users besides the administrator. */
  readonly users?: Parameters<ControlPlane['setTokens']>[0];
  /** Called when the API server has the kind of records, before the gateway starts. */
  readonly prepare?: (plane: ControlPlane) => Promise<void>;
  readonly group?: string;
  readonly version?: string;
  /** Portolan makes the certificates of the door. Default: false. */
  readonly makesCertificates?: boolean;
  readonly log?: Logger;
  /** Starts the gateway, after `prepare`. Default: in this process, as the administrator. */
  readonly run?: (plane: ControlPlane, flags: Readonly<Record<string, unknown>>) => Promise<DoorGateway>;
  /** The rules of an audit policy. The API server then writes `audit.log` into the directory of the plane. */
  readonly auditRules?: readonly object[];
}

/** Resolves when the APIService is available. */
export async function startAggregatedPlane({
  server,
  controllerManager = false,
  flags = {},
  users = [],
  prepare = async () => {},
  group = 'shadow.portolan.dev',
  version = 'v1alpha1',
  makesCertificates = false,
  log,
  run = ({ kubeconfigPath: kubeconfig }, given) =>
    runGateway({ name: 'real', kubeconfig }, given, ...(log === undefined ? [] : [log])),
  auditRules,
}: AggregatedPlaneOptions): Promise<AggregatedPlane> {
  const authority = await createCertificateAuthority('Proxies');
  const front = await authority.issue({ names: [], commonName: 'aggregator' });
  const own = await authority.issue({ names: ['DNS:door.portolan.svc', 'IP:127.0.0.1'], commonName: 'door' });
  const writer =
    (dir: string) =>
    (name: string, text: string): string => {
      writeFileSync(join(dir, name), text, { mode: 0o600 });
      return join(dir, name);
    };
  const apiServer = (dir: string): ApiServerOptions => {
    const write = writer(dir);
    const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: auditRules };
    return {
      proxyCaFile: write('proxy-ca.crt', authority.ca),
      aggregator: {
        certFile: write('front.crt', front.cert),
        keyFile: write('front.key', front.key),
        name: 'aggregator',
      },
      ...(auditRules === undefined
        ? {}
        : {
            audit: {
              policyFile: write('audit-policy.json', JSON.stringify(policy)),
              logFile: join(dir, 'audit.log'),
            },
          }),
    };
  };
  const plane = await startControlPlane({
    ...(server === undefined ? {} : { server }),
    controllerManager,
    users,
    apiServer,
  }).catch((error: unknown) => {
    authority.remove();
    throw error;
  });
  let gateway: DoorGateway | null = null;
  const stop = async (): Promise<void> => {
    await gateway?.close();
    await plane.stop();
    authority.remove();
  };
  try {
    const write = writer(plane.dir);
    // Without records, lists cannot be answered, and the APIService is not available.
    await plane.kubectl(['apply', '--server-side', '-f', '-'], shadowRecordCrdText());
    await plane.kubectl(['wait', '--for=condition=Established', 'crd/shadowrecords.portolan.dev']);
    await eventually(() => plane.kubectl(['get', 'shadowrecords', '-A']));
    await prepare(plane);
    const registered = { group, version, ca: makesCertificates ? null : authority.ca };
    // Certificates are kept in the namespace of the Service, and told to the APIService.
    if (makesCertificates) await plane.kubectl(['apply', '-f', '-'], apiService(1, registered));
    const started = await run(plane, {
      auth: 'token',
      aggregate: 'true',
      aggregatePort: '0',
      aggregateGroup: group,
      aggregateVersion: version,
      ...(makesCertificates
        ? { aggregateService: 'portolan/door' }
        : { aggregateCert: write('door.crt', own.cert), aggregateKey: write('door.key', own.key) }),
      ...flags,
    });
    gateway = started;
    await plane.kubectl(['apply', '-f', '-'], apiService(started.aggregatePort ?? 0, registered));
    await eventually(
      () => plane.kubectl(['wait', '--for=condition=Available', `apiservice/${version}.${group}`, '--timeout=5s']),
      60_000,
    );
    return { plane, gateway: started, authority, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The manifests that lead kube-apiserver to the port. @param ca null: Portolan writes it */
function apiService(
  port: number,
  { group, version, ca }: { readonly group: string; readonly version: string; readonly ca: string | null },
): string {
  const manifests = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'portolan' } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'door', namespace: 'portolan' },
      spec: { type: 'ExternalName', externalName: 'localhost' },
    },
    {
      apiVersion: 'apiregistration.k8s.io/v1',
      kind: 'APIService',
      metadata: { name: `${version}.${group}` },
      spec: {
        group,
        version,
        service: { name: 'door', namespace: 'portolan', port },
        ...(ca === null ? {} : { caBundle: Buffer.from(ca).toString('base64') }),
        groupPriorityMinimum: 1000,
        versionPriority: 15,
      },
    },
  ];
  return manifestList(manifests);
}
