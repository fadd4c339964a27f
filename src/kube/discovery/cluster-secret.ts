/**
 * A Secret that registers a cluster. Two forms are known:
 *
 *   Argo CD      data.name, data.server, data.config: JSON of bearerToken, username, password, tlsClientConfig
 *                (https://argo-cd.readthedocs.io/en/stable/operator-manual/declarative-setup/#clusters)
 *   kubeconfig   data.kubeconfig, or data.value as Cluster API writes it; data.name, else the name of the Secret
 *
 * Only inline credentials are allowed: no commands, no files (src/kube/credentials/inline-kubeconfig.ts).
 */
import { createHash } from 'node:crypto';
import { PortolanError } from '../../base/errors.ts';
import { record, text } from '../../base/json.ts';
import type { ClusterOptions } from '../client/connection.ts';
import { readInline } from '../credentials/inline-kubeconfig.ts';
import { readClusterConfig } from '../credentials/kubeconfig.ts';

/** The parts of a Secret that are read. */
export interface ClusterSecret {
  readonly metadata: { readonly namespace: string; readonly name: string };
  /** Values in Base64. */
  readonly data?: Readonly<Record<string, string>> | undefined;
}

/** A cluster that came after the start. Plain data. */
export interface RegisteredCluster extends ClusterOptions {
  readonly name: string;
  /** Equal texts mean the same API server: a digest of the address and the authority of the current context, without credentials. */
  readonly serverId: string;
}

/** Names of contexts and of clusters in the tools of cloud providers. */
const namePattern = /^[\w.:@/-]{1,253}$/;

/** @throws PortolanError CONFIGURATION that says what is wrong with the Secret, without its values. */
export function clusterOfSecret({ metadata, data = {} }: ClusterSecret): RegisteredCluster {
  const source = `the Secret ${metadata.namespace}/${metadata.name}`;
  const decoded = (key: string): string | undefined =>
    data[key] === undefined ? undefined : Buffer.from(data[key], 'base64').toString('utf8').trim() || undefined;
  const given = decoded('kubeconfig') ?? decoded('value');
  const server = decoded('server');
  const name = decoded('name') ?? metadata.name;
  try {
    if (given === undefined && server === undefined) {
      throw new Error('it has neither `kubeconfig` nor `server` with `name` and `config`');
    }
    const inline = { text: given ?? argoKubeconfig(name, server ?? '', decoded('config')), source };
    if (!namePattern.test(name)) throw new Error('the name has characters other than letters, digits and . : @ / _ -');
    readInline(inline);
    const { cluster } = readClusterConfig({ inline, env: {} });
    const identity = [[cluster.server, cluster.caData, cluster.tlsServerName]];
    const serverId = createHash('sha256').update(JSON.stringify(identity)).digest('base64url');
    return { name, inline, serverId };
  } catch (error) {
    const [why] = error instanceof Error ? error.message.split('\n') : [];
    throw new PortolanError('CONFIGURATION', `${source} registers no cluster: ${why?.replace(/\.$/, '')}.`);
  }
}

/** The kubeconfig of a Secret of Argo CD, as JSON, which is YAML too. */
function argoKubeconfig(name: string, server: string, config: string | undefined): string {
  const parsed = record(config === undefined ? {} : parseJson(config));
  if (parsed === undefined) throw new Error('`config` is not a JSON object');
  for (const plugin of ['execProviderConfig', 'awsAuthConfig']) {
    if (parsed[plugin] !== undefined) throw new Error(`\`config\` has ${plugin}, which runs a command: use a token`);
  }
  const tls = record(parsed['tlsClientConfig']) ?? {};
  const cluster = {
    server,
    'certificate-authority-data': text(tls['caData']),
    'tls-server-name': text(tls['serverName']),
    'insecure-skip-tls-verify': tls['insecure'] === true,
  };
  const user = {
    token: text(parsed['bearerToken']),
    username: text(parsed['username']),
    password: text(parsed['password']),
    'client-certificate-data': text(tls['certData']),
    'client-key-data': text(tls['keyData']),
  };
  return JSON.stringify({
    'current-context': name,
    clusters: [{ name, cluster }],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
}

function parseJson(config: string): unknown {
  try {
    return JSON.parse(config);
  } catch {
    throw new Error('`config` is not JSON');
  }
}
