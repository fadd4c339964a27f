/** The files of TLS that the options name. */
import { PortolanError } from '../../base/errors.ts';
import type { Config } from '../../config/options.ts';

export type TlsConfig = Pick<Config, 'auth' | 'tlsCert' | 'tlsKey' | 'clientCa' | 'proxyClientCa' | 'proxyClientName'>;

interface TlsPaths {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string | undefined;
  readonly proxyCa: string | undefined;
}

/**
 * Null for a gateway without TLS of its own.
 * @throws PortolanError CONFIGURATION for options that miss another one.
 */
export function tlsPaths({
  auth,
  tlsCert,
  tlsKey,
  clientCa,
  proxyClientCa,
  proxyClientName,
}: TlsConfig): TlsPaths | null {
  const given = {
    '--tls-cert': tlsCert,
    '--tls-key': tlsKey,
    '--client-ca': clientCa,
    '--proxy-client-ca': proxyClientCa,
  };
  const needs = (flag: string, ...others: (keyof typeof given)[]): void => {
    const missing = others.filter((other) => given[other] === undefined);
    if (missing.length > 0) throw new PortolanError('CONFIGURATION', `${flag} needs ${missing.join(' and ')}.`);
  };
  const without = (flag: string, kind: 'certificate' | 'proxy'): void => {
    if (!auth.includes(kind)) throw new PortolanError('CONFIGURATION', `${flag} needs --auth ${kind}.`);
  };
  if (tlsCert !== undefined) needs('--tls-cert', '--tls-key');
  if (tlsKey !== undefined) needs('--tls-key', '--tls-cert');
  if (clientCa !== undefined) without('--client-ca', 'certificate');
  if (proxyClientCa !== undefined) without('--proxy-client-ca', 'proxy');
  if (proxyClientName.length > 0) without('--proxy-client-name', 'proxy');
  if (auth.includes('certificate')) needs('--auth certificate', '--tls-cert', '--tls-key', '--client-ca');
  if (auth.includes('proxy')) needs('--auth proxy', '--tls-cert', '--tls-key', '--proxy-client-ca');
  if (tlsCert === undefined || tlsKey === undefined) return null;
  return { cert: tlsCert, key: tlsKey, clientCa, proxyCa: proxyClientCa };
}
