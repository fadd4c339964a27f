/**
 * The entries of one kubeconfig file (version v1): its clusters, users and contexts, with absolute paths. `raw` holds the
 * remaining settings of a user (plugins, providers, impersonated groups), unchecked.
 */
import { isAbsolute, join } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { list, record } from '../../base/json.ts';

interface KubeconfigContext {
  readonly name: string;
  readonly cluster: string;
  readonly user: string | undefined;
}

/** A user, and its unchanged section of the file. */
export interface KubeconfigUser {
  readonly name: string;
  readonly user: User;
  readonly raw: Readonly<Record<string, unknown>>;
}

export interface KubeconfigEntries {
  readonly currentContext: string | undefined;
  readonly clusters: readonly Cluster[];
  readonly users: readonly KubeconfigUser[];
  readonly contexts: readonly KubeconfigContext[];
}

/** The entries of a parsed file. Relative paths are resolved against `directory`. Throws an Error that names the missing entry. */
export function kubeconfigEntries(raw: Readonly<Record<string, unknown>>, directory: string): KubeconfigEntries {
  return {
    currentContext: scalar(raw['current-context']),
    clusters: list(raw['clusters']).map((entry, index) => clusterOf(entry, `clusters[${index}]`, directory)),
    users: list(raw['users']).map((entry, index) => userOf(entry, `users[${index}]`, directory)),
    contexts: list(raw['contexts']).map((entry, index) => contextOf(entry, `contexts[${index}]`)),
  };
}

function clusterOf(entry: unknown, place: string, directory: string): Cluster {
  const cluster = must(record(record(entry)?.['cluster']), `${place}.cluster`);
  return present({
    name: must(scalar(record(entry)?.['name']), `${place}.name`),
    server: must(scalar(cluster['server']), `${place}.cluster.server`).replace(/\/$/, ''),
    caFile: pathIn(directory, scalar(cluster['certificate-authority'])),
    caData: scalar(cluster['certificate-authority-data']),
    skipTLSVerify: cluster['insecure-skip-tls-verify'] === true,
    tlsServerName: scalar(cluster['tls-server-name']),
    proxyUrl: scalar(cluster['proxy-url']),
  });
}

function userOf(entry: unknown, place: string, directory: string): KubeconfigUser {
  const name = must(scalar(record(entry)?.['name']), `${place}.name`);
  const raw = record(record(entry)?.['user']) ?? {};
  const user = present({
    name,
    certFile: pathIn(directory, scalar(raw['client-certificate'])),
    certData: scalar(raw['client-certificate-data']),
    keyFile: pathIn(directory, scalar(raw['client-key'])),
    keyData: scalar(raw['client-key-data']),
    token: scalar(raw['token']),
    username: scalar(raw['username']),
    password: scalar(raw['password']),
    impersonateUser: scalar(raw['as']),
  });
  return { name, user, raw };
}

function contextOf(entry: unknown, place: string): KubeconfigContext {
  const context = must(record(record(entry)?.['context']), `${place}.context`);
  return {
    name: must(scalar(record(entry)?.['name']), `${place}.name`),
    cluster: must(scalar(context['cluster']), `${place}.context.cluster`),
    user: scalar(context['user']),
  };
}

/** As in kubectl, a number or a boolean is accepted as a string. */
function scalar(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function pathIn(directory: string, path: string | undefined): string | undefined {
  return path === undefined || isAbsolute(path) ? path : join(directory, path);
}

function must<T>(value: T | undefined, place: string): T {
  if (value === undefined) throw new Error(`${place} is missing`);
  return value;
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes the fields that are undefined. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
