/**
 * Restricts a gateway without authentication to this machine. It listens only on loopback. It answers only requests whose Host header
 * names loopback, so a web page cannot reach it through its own domain (DNS rebinding).
 */
import { PortolanError } from '../base/errors.ts';
import { isLoopback } from '../base/is-loopback.ts';

/** @throws PortolanError CONFIGURATION for an address that is not loopback. */
export function refuseUnlessLoopback(host: string): void {
  if (isLoopback(host)) return;
  throw new PortolanError(
    'CONFIGURATION',
    `Everybody who reaches ${host} would see everything: say who the callers are with --auth token, or use --host 127.0.0.1 and a tunnel such as kubectl port-forward. --auth none serves everybody there.`,
  );
}

/** Does a Host header name this machine's loopback? A missing header does not. */
export function isLoopbackHost(header: string | undefined): boolean {
  const [, host] = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(header ?? '') ?? [];
  return host !== undefined && isLoopback(host);
}
