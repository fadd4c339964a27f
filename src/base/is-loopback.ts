import { isIP } from 'node:net';

/** Is the host this machine's own loopback? By its name or address alone, with or without the brackets of IPv6. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, '').toLowerCase();
  if (bare === 'localhost' || bare === '::1') return true;
  return isIP(bare) === 4 && bare.startsWith('127.');
}
