/**
 * Finds and reads the configuration of one cluster: kubeconfig files, or a Pod's service account.
 *
 * Owns: the files to read, their precedence, and the error when no configuration is usable.
 * Never: uses the network, runs a plugin, or falls back to a default address.
 *
 * Several files are merged as in kubectl: the first entry with a name wins, and missing files are skipped.
 */
import { isIPv6 } from 'node:net';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { record, strings, text } from '../../base/json.ts';
import { readSmallFile } from '../../base/read-small-file.ts';
import { type InlineKubeconfig, reachOf, readInline } from './inline-kubeconfig.ts';
import { type KubeconfigEntries, type KubeconfigUser, kubeconfigEntries } from './kubeconfig-entries.ts';
import { kubeconfigText } from './kubeconfig-text.ts';

/** The options that select the configuration. */
export interface KubeconfigOptions {
  /** A kubeconfig as text. Takes precedence over all files. */
  readonly inline?: InlineKubeconfig | undefined;
  /** Path of one kubeconfig file. Takes precedence over KUBECONFIG. */
  readonly kubeconfig?: string | undefined;
  /** The user did not name `kubeconfig`: it may be somebody else's, so it may hold only inline data. */
  readonly isFound?: boolean | undefined;
  /** Name of the context. Default: the current context of the files. */
  readonly context?: string | undefined;
  /** True: only the service account of this Pod. False: never. Undefined: when there is no kubeconfig. */
  readonly inCluster?: boolean | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Folder of the service account's token, ca.crt and namespace. */
  readonly serviceAccountDir?: string | undefined;
}

/** The impersonation of the kubeconfig, besides the user's name. */
interface Impersonation {
  readonly groups: readonly string[];
  readonly uid: string | undefined;
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

/** One cluster and one user, from which credentials are fetched. */
export interface ClusterConfig {
  readonly context: string;
  /** The source of this configuration, for messages: file names, or the service account's folder. */
  readonly source: string;
  readonly cluster: Cluster;
  /** Does not contain exec, OIDC, token files and impersonated groups: they are separate members. */
  readonly user: User;
  readonly tokenFile: string | undefined;
  /** The exec section of the user, unchecked. */
  readonly exec: Readonly<Record<string, unknown>> | undefined;
  /** The settings of the `oidc` auth provider. A renewal replaces the tokens in it. */
  readonly oidc: Record<string, unknown> | undefined;
  readonly impersonation: Impersonation | undefined;
  /** Folder to resolve the relative command of an exec plugin against. */
  readonly directory: string;
}

const defaultServiceAccountDir = '/var/run/secrets/kubernetes.io/serviceaccount';

/** The configuration for the options and the environment. Throws CONFIGURATION with instructions. */
export function readClusterConfig(options: KubeconfigOptions): ClusterConfig {
  if (options.inline !== undefined) return readInlineConfig(options.inline, options.context);
  if (options.inCluster === true) return readServiceAccount(options);
  const files = kubeconfigFiles(options);
  const loaded = files.paths.flatMap((path) => readFile(path, files.explicit, options.isFound));
  if (loaded.length > 0) return pick(loaded, options.context);
  if (options.inCluster !== false && (options.env['KUBERNETES_SERVICE_HOST'] ?? '') !== '') {
    return readServiceAccount(options);
  }
  throw configuration(
    `No kubeconfig was found (looked at ${files.paths.length === 0 ? 'KUBECONFIG, which is not set' : files.paths.join(', ')}): name one with --kubeconfig or KUBECONFIG, or run in a Pod with a service account.`,
  );
}

function readInlineConfig(inline: InlineKubeconfig, context: string | undefined): ClusterConfig {
  const { source } = inline;
  try {
    return pick([{ path: source, config: readInline(inline) }], context, 'name one as current-context');
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw configuration(`The kubeconfig of ${source} cannot be used: ${firstLine(messageOf(error))}.`);
  }
}

interface LoadedFile {
  readonly path: string;
  readonly config: KubeconfigEntries;
}

function kubeconfigFiles(options: KubeconfigOptions): { paths: readonly string[]; explicit: boolean } {
  if (options.kubeconfig !== undefined) return { paths: [options.kubeconfig], explicit: true };
  const fromEnv = (options.env['KUBECONFIG'] ?? '').split(delimiter).filter((path) => path !== '');
  if (fromEnv.length > 0) return { paths: fromEnv, explicit: false };
  const home = options.env['HOME'] ?? options.env['USERPROFILE'] ?? '';
  return { paths: home === '' ? [] : [join(home, '.kube', 'config')], explicit: false };
}

function readFile(path: string, explicit: boolean, isFound = false): LoadedFile[] {
  let content: string;
  try {
    content = readSmallFile(path).toString('utf8');
  } catch (error) {
    if (!explicit && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw configuration(`The kubeconfig ${path} cannot be read (${messageOf(error)}): name a file that can.`, error);
  }
  try {
    const raw = kubeconfigText(content);
    if (isFound) refuseReach(path, raw);
    return [{ path, config: kubeconfigEntries(raw, dirname(path)) }];
  } catch (error) {
    if (error instanceof PortolanError) throw error;
    throw configuration(
      `The kubeconfig ${path} cannot be understood (${firstLine(messageOf(error))}): repair the file.`,
      error,
    );
  }
}

function refuseReach(path: string, raw: Readonly<Record<string, unknown>>): void {
  const found = reachOf(raw);
  if (found === null) return;
  throw configuration(
    `The kubeconfig ${path} has ${found}, which names a command or a file, and only a configuration that was found in the working directory names this kubeconfig: give --kubeconfig ${path} if you trust it.`,
  );
}

/** @param advice what to do without a known context */
function pick(
  files: readonly LoadedFile[],
  wanted: string | undefined,
  advice = 'choose one with --context',
): ClusterConfig {
  const source = files.map((file) => file.path).join(', ');
  const name = wanted ?? files.map((file) => file.config.currentContext).find((current) => current !== undefined);
  const contexts = files.flatMap((file) => file.config.contexts);
  const known = contexts.length === 0 ? 'it has none' : `it has ${contexts.map((each) => each.name).join(', ')}`;
  if (name === undefined) {
    throw configuration(`${source} names no current context: ${advice} (${known}).`);
  }
  const context = contexts.find((each) => each.name === name);
  if (context === undefined) {
    throw configuration(`${source} has no context ${name}: ${advice} (${known}).`);
  }
  if (context.cluster === '') throw configuration(`Context ${name} in ${source} names no cluster: repair the file.`);
  const cluster = files.flatMap((file) => file.config.clusters).find((each) => each.name === context.cluster);
  if (cluster === undefined) {
    throw configuration(
      `Context ${name} means the cluster ${context.cluster}, which ${source} does not have: repair the file.`,
    );
  }
  requireUsable(cluster, source);
  const userName = context.user ?? '';
  const home = files.find((file) => file.config.users.some((each) => each.name === userName));
  const user = home?.config.users.find((each) => each.name === userName);
  if (userName !== '' && user === undefined) {
    throw configuration(`Context ${name} means the user ${userName}, which ${source} does not have: repair the file.`);
  }
  if (user !== undefined) requireOneCredential(user, source);
  const directory = dirname(home?.path ?? files[0]?.path ?? '.');
  return splitUser({ name, source, cluster, found: user ?? anonymous, directory });
}

/** The checks of kubectl on the cluster that is used. */
function requireUsable({ name, server, skipTLSVerify, caFile, caData }: Cluster, source: string): void {
  if (server === '') throw configuration(`The cluster ${name} in ${source} has no server: write its address there.`);
  if (skipTLSVerify && (caFile !== undefined || caData !== undefined)) {
    throw configuration(
      `The cluster ${name} in ${source} has insecure-skip-tls-verify and a certificate authority: remove one of them.`,
    );
  }
}

/** The versions of ExecCredential; without an interactiveMode, the second counts as IfAvailable. */
const execVersions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];
const interactiveModes = ['Never', 'IfAvailable', 'Always'];

/** The checks of kubectl on the user that is used. */
function requireOneCredential({ name, user, raw }: KubeconfigUser, source: string): void {
  const refuse = (what: string): PortolanError => configuration(`The user ${name} in ${source} ${what}.`);
  const { token, username, password, certFile, certData, keyFile, keyData, impersonateUser } = user;
  const exec = record(raw['exec']);
  if (token !== undefined && (username !== undefined || password !== undefined)) {
    throw refuse('has a token and a username with a password: remove one of them');
  }
  const hasCertificate = certFile !== undefined || certData !== undefined;
  if (hasCertificate && keyFile === undefined && keyData === undefined) {
    throw refuse('has a client certificate without a key: add client-key or client-key-data');
  }
  if (exec !== undefined && raw['auth-provider'] !== undefined) {
    throw refuse('has an exec plugin and an auth provider: remove one of them');
  }
  if (exec !== undefined) {
    const version = text(exec['apiVersion']) ?? '';
    if (!execVersions.includes(version)) {
      const has = version === '' ? 'without an apiVersion' : `of the apiVersion ${version}, which has ended`;
      throw refuse(`has an exec plugin ${has}: write ${execVersions[0]}, if the plugin has it`);
    }
    const mode = text(exec['interactiveMode']) ?? (version === execVersions[0] ? '' : 'IfAvailable');
    if (!interactiveModes.includes(mode)) {
      const has = mode === '' ? 'without an interactiveMode' : `with the interactiveMode ${mode}`;
      throw refuse(`has an exec plugin ${has}: write one of ${interactiveModes.join(', ')}`);
    }
  }
  const as = impersonationOf(raw);
  if (as !== undefined && impersonateUser === undefined) {
    throw refuse('impersonates groups, a uid or extra without a user: add `as`');
  }
}

const anonymous: KubeconfigUser = { name: 'anonymous', user: { name: 'anonymous' }, raw: {} };

function splitUser(of: {
  name: string;
  source: string;
  cluster: Cluster;
  found: KubeconfigUser;
  directory: string;
}): ClusterConfig {
  const { user, raw } = of.found;
  const authProvider = record(raw['auth-provider']);
  const provider = record(authProvider?.['config']);
  const providerFile = text(provider?.['tokenFile']);
  const tokenFile = text(raw['tokenFile']) ?? providerFile;
  const exec = record(raw['exec']) ?? record(provider?.['exec']);
  const oidc = authProvider?.['name'] === 'oidc' ? { ...provider } : undefined;
  const separate = exec !== undefined || oidc !== undefined || providerFile !== undefined;
  return {
    context: of.name,
    source: of.source,
    cluster: of.cluster,
    user: separate || authProvider === undefined ? user : { ...user, authProvider },
    tokenFile: tokenFile === undefined || isAbsolute(tokenFile) ? tokenFile : join(of.directory, tokenFile),
    exec,
    oidc,
    impersonation: impersonationOf(raw),
    directory: of.directory,
  };
}

function impersonationOf(raw: Readonly<Record<string, unknown>>): Impersonation | undefined {
  const groups = strings(raw['as-groups']);
  const uid = text(raw['as-uid']);
  const extra = new Map(
    Object.entries(record(raw['as-user-extra']) ?? {}).map(([key, value]) => [key, strings(value)]),
  );
  return groups.length === 0 && uid === undefined && extra.size === 0 ? undefined : { groups, uid, extra };
}

function readServiceAccount(options: KubeconfigOptions): ClusterConfig {
  const directory = options.serviceAccountDir ?? defaultServiceAccountDir;
  const host = options.env['KUBERNETES_SERVICE_HOST'] ?? '';
  const port = options.env['KUBERNETES_SERVICE_PORT'] ?? '';
  const tokenFile = join(directory, 'token');
  try {
    if (host === '' || port === '') throw new Error('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set');
    readSmallFile(tokenFile);
  } catch (error) {
    throw configuration(
      `There are no in-cluster credentials (${messageOf(error)}): run in a Pod whose service account token is mounted, or name a kubeconfig with --kubeconfig.`,
      error,
    );
  }
  return {
    context: 'in-cluster',
    source: `the service account in ${directory}`,
    cluster: {
      name: 'in-cluster',
      server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
      caFile: join(directory, 'ca.crt'),
      skipTLSVerify: false,
    },
    user: { name: 'service-account' },
    tokenFile,
    exec: undefined,
    oidc: undefined,
    impersonation: undefined,
    directory,
  };
}

function configuration(message: string, cause?: unknown): PortolanError {
  return new PortolanError('CONFIGURATION', message, cause === undefined ? {} : { cause });
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.replace(/[:.\s]+$/, '') ?? '';
}
