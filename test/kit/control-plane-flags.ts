/** The command lines of a control plane's processes. This file alone chooses flags by the server's version. */
import { join } from 'node:path';
import type { KubeAssets } from './kube-assets.ts';
import { isSince } from './server-version.ts';

/** Where a control plane keeps its files and listens. */
export interface ControlPlanePlace {
  readonly assets: KubeAssets;
  /** Of keys, tokens, certificates and etcd's data. */
  readonly dir: string;
  readonly ports: { readonly client: number; readonly peer: number; readonly secure: number };
  /** Of the administrator. */
  readonly kubeconfigPath: string;
}

export interface ApiServerOptions {
  /** False lets watches and lists go to etcd, which remembers until it is compacted; true by default. */
  readonly watchCache?: boolean;
  /** PEM file of the authority whose client certificates name users: CN is the user, each O is a group. */
  readonly clientCaFile?: string;
  /** The authorizers in their order, such as `Node,RBAC`; RBAC alone by default. */
  readonly authorizationMode?: string;
  /** Files of the audit: its policy, and the log, with a JSON object in each line. */
  readonly audit?: { readonly policyFile: string; readonly logFile: string };
  /** A kubeconfig of a webhook that reviews tokens, and decides before RBAC. */
  readonly webhook?: string;
  /** PEM file of the authority of front proxies, whose X-Remote headers name users. */
  readonly proxyCaFile?: string;
  /** PEM files of the certificate and key with which the aggregator proves itself, and its common name. Needs `proxyCaFile`. */
  readonly aggregator?: { readonly certFile: string; readonly keyFile: string; readonly name: string };
  /** The addresses of Services; by default 10.0.0.0/24, where nothing listens. */
  readonly serviceAddresses?: string;
  /** Seconds for each request but watches, and for open watches once SIGTERM has come; 60 by default. */
  readonly requestSeconds?: number;
  /** Are Pods refused whose ServiceAccount is not there? Without a controller, no namespace has one. Default: false. */
  readonly admitsServiceAccounts?: boolean;
  /** A TracingConfiguration. */
  readonly tracingFile?: string;
}

/** The controllers of 1.20 that need certificates or a cloud; newer servers leave them out by themselves and refuse unknown names. */
const withoutCloud =
  '*,-nodeipam,-route,-service,-cloud-node-lifecycle,-bootstrapsigner,-tokencleaner,-csrsigning,-csrapproving';

/** How long the Lease of a Node holds; it is renewed four times as often. A kubelet's holds for 40 seconds. */
const nodeLeaseSeconds = 8;

/** Servers before 1.24 listen on a second port without TLS unless it is 0; later ones refuse the flag. */
function hasInsecurePort({ assets }: ControlPlanePlace): boolean {
  return !isSince(assets.version, 1, 24);
}

export function etcdFlags({ dir, ports: { client, peer } }: ControlPlanePlace): readonly string[] {
  return [
    `--data-dir=${join(dir, 'etcd')}`,
    `--listen-client-urls=http://127.0.0.1:${client}`,
    `--advertise-client-urls=http://127.0.0.1:${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
    `--initial-cluster=default=http://127.0.0.1:${peer}`,
    '--unsafe-no-fsync',
  ];
}

export function apiServerFlags(place: ControlPlanePlace, options: ApiServerOptions): readonly string[] {
  const { dir, ports } = place;
  const {
    watchCache = true,
    clientCaFile,
    proxyCaFile,
    aggregator,
    webhook,
    audit,
    tracingFile,
    requestSeconds,
    admitsServiceAccounts = false,
  } = options;
  const authorizationMode = options.authorizationMode ?? (webhook === undefined ? 'RBAC' : 'Webhook,RBAC');
  return [
    `--etcd-servers=http://127.0.0.1:${ports.client}`,
    `--secure-port=${ports.secure}`,
    '--bind-address=127.0.0.1',
    `--cert-dir=${dir}`,
    `--service-account-key-file=${join(dir, 'sa.pub')}`,
    `--service-account-signing-key-file=${join(dir, 'sa.key')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--token-auth-file=${join(dir, 'tokens.csv')}`,
    `--authorization-mode=${authorizationMode}`,
    `--service-cluster-ip-range=${options.serviceAddresses ?? '10.0.0.0/24'}`,
    ...(admitsServiceAccounts ? [] : ['--disable-admission-plugins=ServiceAccount']),
    '--allow-privileged',
    `--watch-cache=${watchCache}`,
    ...(clientCaFile === undefined ? [] : [`--client-ca-file=${clientCaFile}`]),
    ...(proxyCaFile === undefined ? [] : proxyFlags(place, proxyCaFile)),
    ...(aggregator === undefined
      ? []
      : [
          `--proxy-client-cert-file=${aggregator.certFile}`,
          `--proxy-client-key-file=${aggregator.keyFile}`,
          `--requestheader-allowed-names=${aggregator.name}`,
        ]),
    ...(webhook === undefined ? [] : webhookFlags(webhook)),
    ...(audit === undefined ? [] : [`--audit-policy-file=${audit.policyFile}`, `--audit-log-path=${audit.logFile}`]),
    ...(tracingFile === undefined ? [] : [`--tracing-config-file=${tracingFile}`]),
    ...(requestSeconds === undefined ? [] : [`--request-timeout=${requestSeconds}s`]),
    ...(hasInsecurePort(place) ? ['--insecure-port=0'] : []),
  ];
}

function proxyFlags({ assets }: ControlPlanePlace, caFile: string): readonly string[] {
  return [
    `--requestheader-client-ca-file=${caFile}`,
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    ...(isSince(assets.version, 1, 33) ? ['--requestheader-uid-headers=X-Remote-Uid'] : []),
  ];
}

/** Its answers are kept for as short as possible. */
function webhookFlags(kubeconfig: string): readonly string[] {
  return [
    `--authentication-token-webhook-config-file=${kubeconfig}`,
    '--authentication-token-webhook-version=v1',
    `--authorization-webhook-config-file=${kubeconfig}`,
    '--authorization-webhook-version=v1',
    '--authorization-webhook-cache-authorized-ttl=0s',
    '--authorization-webhook-cache-unauthorized-ttl=0s',
  ];
}

export function controllerManagerFlags(place: ControlPlanePlace): readonly string[] {
  return [
    ...clientFlags(place),
    `--service-account-private-key-file=${join(place.dir, 'sa.key')}`,
    ...(hasInsecurePort(place) ? ['--port=0', `--controllers=${withoutCloud}`] : []),
  ];
}

export function schedulerFlags(place: ControlPlanePlace): readonly string[] {
  return [...clientFlags(place), ...(hasInsecurePort(place) ? ['--port=0'] : [])];
}

/** kwok plays the kubelets of all Nodes: it reports them ready and lets their Pods run, complete and end. */
export function kwokFlags({ assets, kubeconfigPath }: ControlPlanePlace): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--config=${assets.path('kwok-stages.yaml')}`,
    '--enable-crds=',
    '--manage-all-nodes=true',
    `--node-lease-duration-seconds=${nodeLeaseSeconds}`,
    '--server-address=127.0.0.1:0',
  ];
}

/** Of a process that works on the API server as the administrator, alone and without a port. */
function clientFlags({ kubeconfigPath }: ControlPlanePlace): readonly string[] {
  return [
    `--kubeconfig=${kubeconfigPath}`,
    `--authentication-kubeconfig=${kubeconfigPath}`,
    `--authorization-kubeconfig=${kubeconfigPath}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
}
