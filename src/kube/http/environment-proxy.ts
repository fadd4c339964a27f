/**
 * The proxy from HTTPS_PROXY, HTTP_PROXY and NO_PROXY, by the rules of kubectl. A server that kubectl reaches is therefore
 * reached in the same way. The proxy-url of a kubeconfig takes precedence.
 */
import { BlockList, isIP } from 'node:net';

/** The proxy's URL for this server; undefined for a direct connection. Loopback is always connected directly. */
export function proxyFromEnvironment(server: URL, env: NodeJS.ProcessEnv): string | undefined {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const proxy = (env[name] ?? env[name.toLowerCase()] ?? '').trim();
  if (proxy === '') return undefined;
  const host = server.hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  if (host === 'localhost' || within(host, '127.0.0.0/8') || within(host, '::1/128')) return undefined;
  const exempt = (env['NO_PROXY'] ?? env['no_proxy'] ?? '').split(',').some((entry) => matches(entry, host, port));
  if (exempt) return undefined;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

/** An entry is `*`, an address, a network (`10.0.0.0/8`), or a domain. Addresses and domains may end in a port. */
function matches(entry: string, host: string, port: string): boolean {
  const rule = entry.trim().toLowerCase();
  if (rule === '') return false;
  if (rule === '*') return true;
  if (rule.includes('/')) return within(host, rule);
  const withPort = isIP(rule) === 0 ? /^(.*):(\d+)$/.exec(rule) : null;
  if (withPort?.[2] !== undefined && withPort[2] !== port) return false;
  const name = (withPort?.[1] ?? rule).replace(/^\[|\]$/g, '').replace(/^\*\./, '.');
  // `.domain` matches only subdomains; `domain` also matches itself.
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}

/** Whether an address is in a network; false when either text is invalid. */
function within(host: string, network: string): boolean {
  const [base = '', bits = ''] = network.split('/');
  const family = isIP(base);
  const length = /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (family === 0 || isIP(host) !== family || !(length <= (family === 4 ? 32 : 128))) return false;
  const list = new BlockList();
  const kind = family === 4 ? 'ipv4' : 'ipv6';
  list.addSubnet(base, length, kind);
  return list.check(host, kind);
}
