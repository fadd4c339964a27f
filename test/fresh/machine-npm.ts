/**
 * The settings of this machine that npm in a sandbox needs to reach the registry. They are its address, credentials, proxies and trusted
 * authorities. Other settings, such as the folder of the cache, are not taken over.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const bundle = '/etc/ssl/certs/ca-certificates.crt';

/** Lines of an npmrc file: the registry and that of a scope, credentials of an address, proxies. */
const forRegistry = /^\s*(?:(?:@[^=]+:)?registry|\/\/[^=]+|https?-proxy|proxy|noproxy|strict-ssl|maxsockets)\s*=/;
const forRegistryInEnvironment =
  /^(?:npm_config_(?:(?:https_)?proxy|noproxy|registry|strict_ssl|.*:registry)|(?:https?|no|all)_proxy)$/i;

/** Why the registry cannot be reached from here; null when it can. */
export function missingRegistry(): string | null {
  const { status, stderr } = spawnSync('npm', ['view', 'npm', 'version', '--fetch-retries=0'], { encoding: 'utf8' });
  return status === 0 ? null : `the npm registry does not answer: ${stderr?.split('\n')[0] ?? 'npm is missing'}`;
}

export interface MachineNpm {
  readonly env: Readonly<Record<string, string>>;
  readonly readable: Readonly<Record<string, string>>;
}

/** Writes .npmrc into the home folder of the sandbox, and beside it the certificates. */
export function machineNpm(home: string, certificates: string): MachineNpm {
  const config = (key: string): string =>
    execFileSync('npm', ['config', 'get', key], { cwd: '/', encoding: 'utf8' }).trim();
  const texts = ['globalconfig', 'userconfig']
    .map(config)
    .filter(existsSync)
    .map((file) => readFileSync(file, 'utf8'));
  const lines = texts.flatMap((text) => text.split('\n')).filter((line) => forRegistry.test(line));
  writeFileSync(join(home, '.npmrc'), `${lines.join('\n')}\n`, { mode: 0o600 });
  const authorities = [bundle, process.env['NODE_EXTRA_CA_CERTS'] ?? '', config('cafile')].filter((file) =>
    existsSync(file),
  );
  writeFileSync(certificates, [...new Set(authorities)].map((file) => readFileSync(file, 'utf8')).join('\n'));
  const environment = Object.entries(process.env).flatMap(([name, value]) =>
    value !== undefined && value !== '' && forRegistryInEnvironment.test(name) ? [[name, value] as const] : [],
  );
  return {
    env: { ...Object.fromEntries(environment), NODE_EXTRA_CA_CERTS: bundle },
    readable: {
      [bundle]: certificates,
      ...Object.fromEntries(
        ['/etc/resolv.conf', '/etc/hosts'].filter((file) => existsSync(file)).map((file) => [file, file]),
      ),
    },
  };
}
