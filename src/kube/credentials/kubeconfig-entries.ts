/**
 * The entries of one kubeconfig file (version v1): its clusters, users and contexts, with absolute paths. `raw` holds the remaining settings
 * of a user (plugins, providers, impersonated groups).
 *
 * As kubectl, it refuses a member of another type anywhere in the file. A member that is missing is refused only where a context needs it
 * (kubeconfig.ts).
 */
import { isAbsolute, join } from 'node:path';
import type { Cluster, User } from '@kubernetes/client-node';
import { isRecord } from '../../base/json.ts';

interface KubeconfigContext {
  readonly name: string;
  /** Empty if it names none. */
  readonly cluster: string;
  readonly user: string | undefined;
}

/** A user, and its unchanged section of the file. */
export interface KubeconfigUser {
  readonly name: string;
  readonly user: User;
  readonly raw: Members;
}

export interface KubeconfigEntries {
  readonly currentContext: string | undefined;
  /** A server may be empty. */
  readonly clusters: readonly Cluster[];
  readonly users: readonly KubeconfigUser[];
  readonly contexts: readonly KubeconfigContext[];
}

type Members = Readonly<Record<string, unknown>>;

/**
 * The entries of a parsed file. Relative paths are resolved against `directory`.
 * @throws Error that names the entry of another type.
 */
export function kubeconfigEntries(raw: Members, directory: string): KubeconfigEntries {
  for (const [member, own] of Object.entries({ kind: 'Config', apiVersion: 'v1' })) {
    const given = textAt(raw, member, '') ?? '';
    if (given !== '' && given !== own) throw new Error(`${member} is ${JSON.stringify(given)}, and should be ${own}`);
  }
  return {
    currentContext: textAt(raw, 'current-context', ''),
    clusters: entriesIn(raw, 'clusters', 'cluster').map((entry) => clusterOf(entry, directory)),
    users: entriesIn(raw, 'users', 'user').map((entry) => userOf(entry, directory)),
    contexts: entriesIn(raw, 'contexts', 'context').map(contextOf),
  };
}

interface Entry {
  readonly name: string;
  readonly settings: Members;
  /** Such as `users[0].user`. */
  readonly place: string;
}

function entriesIn(raw: Members, section: string, member: string): readonly Entry[] {
  const given = raw[section] ?? [];
  if (!Array.isArray(given)) throw wrong(section, given, 'a list');
  const entries = given.map((each: unknown, index): Entry => {
    const place = `${section}[${index}]`;
    const entry = membersOf(each, place);
    return {
      name: textAt(entry, 'name', place) ?? '',
      settings: membersOf(entry[member], `${place}.${member}`),
      place: `${place}.${member}`,
    };
  });
  const names = entries.map(({ name }) => name);
  const twice = names.findIndex((name, index) => names.indexOf(name) < index);
  if (twice !== -1) throw new Error(`${section}[${twice}].name is there twice: ${JSON.stringify(names[twice])}`);
  return entries;
}

function clusterOf({ name, settings, place }: Entry, directory: string): Cluster {
  const truth = (key: string): boolean => {
    const given = settings[key] ?? false;
    if (typeof given !== 'boolean') throw wrong(`${place}.${key}`, given, 'true or false without quotes');
    return given;
  };
  const skipTLSVerify = truth('insecure-skip-tls-verify');
  truth('disable-compression');
  const text = (key: string) => textAt(settings, key, place);
  return present({
    name,
    server: (text('server') ?? '').replace(/\/$/, ''),
    caFile: pathIn(directory, text('certificate-authority')),
    caData: dataAt(settings, 'certificate-authority-data', place),
    skipTLSVerify,
    tlsServerName: text('tls-server-name'),
    proxyUrl: text('proxy-url'),
  });
}

function userOf({ name, settings, place }: Entry, directory: string): KubeconfigUser {
  const text = (key: string) => textAt(settings, key, place);
  const data = (key: string) => dataAt(settings, key, place);
  for (const key of ['tokenFile', 'as-uid']) text(key);
  membersOf(settings['auth-provider'], `${place}.auth-provider`);
  const exec = membersOf(settings['exec'], `${place}.exec`);
  for (const key of ['command', 'apiVersion', 'interactiveMode', 'installHint']) textAt(exec, key, `${place}.exec`);
  textsAt(settings['as-groups'], `${place}.as-groups`);
  const extra = membersOf(settings['as-user-extra'], `${place}.as-user-extra`);
  for (const [key, values] of Object.entries(extra)) textsAt(values, `${place}.as-user-extra.${key}`);
  const user = present({
    name,
    certFile: pathIn(directory, text('client-certificate')),
    certData: data('client-certificate-data'),
    keyFile: pathIn(directory, text('client-key')),
    keyData: data('client-key-data'),
    token: text('token'),
    username: text('username'),
    password: text('password'),
    impersonateUser: text('as'),
  });
  return { name, user, raw: settings };
}

function contextOf({ name, settings, place }: Entry): KubeconfigContext {
  textAt(settings, 'namespace', place);
  return { name, cluster: textAt(settings, 'cluster', place) ?? '', user: textAt(settings, 'user', place) };
}

/** Empty for null and for what is not there. */
function membersOf(value: unknown, place: string): Members {
  const given = value ?? {};
  if (!isRecord(given)) throw wrong(place, given, 'an object');
  return given;
}

/** Undefined for an empty text. */
function textAt(members: Members, key: string, place: string): string | undefined {
  const value = members[key] ?? '';
  if (typeof value !== 'string') throw wrong(place === '' ? key : `${place}.${key}`, value, 'text: write it in quotes');
  return value === '' ? undefined : value;
}

function textsAt(value: unknown, place: string): void {
  const given = value ?? [];
  if (!Array.isArray(given)) throw wrong(place, given, 'a list');
  for (const each of given) if (typeof each !== 'string') throw wrong(place, each, 'texts: write each in quotes');
}

function dataAt(members: Members, key: string, place: string): string | undefined {
  const data = textAt(members, key, place)?.replaceAll(/[\r\n]/g, '');
  if (data === undefined) return undefined;
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(data)) throw new Error(`${place}.${key} is no base64`);
  return data === '' ? undefined : data;
}

function pathIn(directory: string, path: string | undefined): string | undefined {
  return path === undefined || isAbsolute(path) ? path : join(directory, path);
}

function wrong(place: string, value: unknown, wanted: string): Error {
  const type = Array.isArray(value) ? 'a list' : isRecord(value) ? 'an object' : `a ${typeof value}`;
  return new Error(`${place} is ${type}, and should be ${wanted}`);
}

type Present<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
};

/** Removes the fields that are undefined. */
function present<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}
