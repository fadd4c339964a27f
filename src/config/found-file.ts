/**
 * The rules for a portolan.yaml that lies in the working directory and that the user did not name. The folder may be somebody else's,
 * such as a cloned repository.
 *
 * This file chooses what is served and how. It never chooses who else reaches the gateway, where callers' tokens go, and which files
 * outside its folder are written. The rules for its kubeconfig are where that file is read (src/kube/credentials/kubeconfig.ts).
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path';
import { PortolanError } from '../base/errors.ts';
import { isLoopback } from '../base/is-loopback.ts';
import { type Config, flagOf } from './options.ts';

const whereTokensGo = 'decides where the tokens of callers go';

/** The harm of a value of the file; null if the file may have it. */
const harms: { readonly [K in keyof Config]?: (config: Config, folder: string) => string | null } = {
  host: ({ host }) => (isLoopback(host) ? null : 'lets other machines reach the gateway'),
  auth: ({ auth }) => (auth.includes('none') ? 'lets everybody see everything' : null),
  clientCa: () => 'decides who the callers are',
  proxyClientCa: () => 'decides who the callers are',
  proxyClientName: () => 'decides who the callers are',
  tokenAudience: () => 'decides who the callers are',
  authCluster: () => 'decides who the callers are',
  sameUsers: ({ sameUsers }) => (sameUsers ? 'decides what callers see' : null),
  authorizationMode: ({ authorizationMode }) => (authorizationMode === 'auto' ? null : 'decides what callers see'),
  allowOrigin: ({ allowOrigin }) =>
    allowOrigin.every((origin) => isLoopback(new URL(origin).hostname)) ? null : 'lets pages of other machines ask',
  kubeconfig: ({ auth }) => (auth.includes('token') ? whereTokensGo : null),
  context: ({ auth }) => (auth.includes('token') ? whereTokensGo : null),
  clusterSecrets: () => 'lets those who write these Secrets choose servers',
  clusterSecretSelector: () => 'lets those who write these Secrets choose servers',
  impersonate: ({ impersonate }) => (impersonate === 'off' ? null : "lets callers act with the gateway's credentials"),
  readOnly: ({ readOnly }) => (readOnly === true ? null : 'lets callers write to the cluster'),
  planKeyFile: () => 'gives the gateway a key that others know',
  tlsCert: () => 'gives the gateway a key that others know',
  tlsKey: () => 'gives the gateway a key that others know',
  data: ({ data = '' }, folder) => writes(data, folder),
  auditLog: ({ auditLog = '' }, folder) => (auditLog === '-' ? null : writes(auditLog, folder)),
};

/** @throws PortolanError CONFIGURATION for the first of the keys whose value goes too far. */
export function refuseHarm(keys: readonly (keyof Config)[], config: Config, file: string): void {
  for (const key of keys) {
    const harm = harms[key]?.(config, dirname(file)) ?? null;
    if (harm === null) continue;
    throw new PortolanError(
      'CONFIGURATION',
      `${key} in ${file} ${harm}, and nobody named this file: start with --config ${file} if you trust it, or give ${flagOf(key)}.`,
    );
  }
}

function writes(path: string, folder: string): string | null {
  return isInside(path, folder) ? null : 'writes outside of its folder';
}

/** Does a new file at the path lie in the folder, also if symbolic links in the path are followed? */
function isInside(path: string, folder: string): boolean {
  const found = (at: string): Stats | undefined => lstatSync(at, { throwIfNoEntry: false });
  try {
    const full = resolve(path);
    if (found(full)?.isSymbolicLink() === true) return false;
    let parent = dirname(full);
    while (found(parent) === undefined) parent = dirname(parent);
    const way = relative(realpathSync(folder), realpathSync(parent));
    return !isAbsolute(way) && way.split(sep)[0] !== '..';
  } catch {
    // A symbolic link that leads nowhere yet, or text that is no path.
    return false;
  }
}
