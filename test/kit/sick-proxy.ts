/** A proxy before an API server, in which the server of each named API group is ill in its own way. */
import { request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';
import type { ProxiedServer } from './recording-proxy.ts';

export const sickWays = [
  'hangs-in-list',
  'hangs-in-watch',
  'hangs-in-discovery',
  'is-slow',
  'refuses-list',
  'refuses-watch',
  'is-away',
  'sends-garbage',
  'ends-watches',
  'loses-version',
  'lacks-uids',
  'drops-connections',
] as const;
export type SickWay = (typeof sickWays)[number];

export const sickGroup = (way: SickWay): string => `${way}.example.com`;

export interface SickProxy {
  readonly server: LoopbackServer;
  /** From here on each group is ill; its open streams are cut. */
  fallIll(): void;
  /** Requests that hang stay without an answer. */
  recover(): void;
}

type Kind = 'list' | 'watch' | 'discovery' | 'other';

export async function startSickProxy({ url: target, token, ca }: ProxiedServer): Promise<SickProxy> {
  const send = target.startsWith('https:') ? sendHttps : sendHttp;
  const trust = ca === undefined ? {} : { ca };
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  let ill = false;
  const cuts = new Set<() => void>();
  const server = await startLoopbackServer((request, response) => {
    const { method = 'GET', headers } = request;
    const url = new URL(request.url ?? '/', target);
    const way = sickWays.find((each) => url.pathname.startsWith(`/apis/${sickGroup(each)}/`));
    const parts = url.pathname.split('/').length;
    const watch = url.searchParams.get('watch') === 'true';
    const kind: Kind = parts === 4 ? 'discovery' : watch ? 'watch' : method === 'GET' ? 'list' : 'other';
    const pass = (change = (text: string): string => text): void => {
      // An aggregated discovery document has all groups in one answer, and none of them could be ill by itself.
      const plain = parts <= 2 ? { accept: 'application/json' } : {};
      const sent = { ...headers, ...credentials, ...plain, host: url.host };
      const outer = send(url, { method, headers: sent, ...trust }, (answer) => {
        const { 'content-length': _, ...rest } = answer.headers;
        response.writeHead(answer.statusCode ?? 500, rest);
        // Without this a watch has no headers before its first event.
        response.flushHeaders();
        answer.on('data', (chunk: Buffer) => response.write(change(chunk.toString())));
        answer.on('end', () => response.end());
      });
      outer.on('error', () => response.destroy());
      request.pipe(outer);
      const cut = (): void => void response.destroy();
      if (way !== undefined) cuts.add(cut);
      response.on('close', () => {
        cuts.delete(cut);
        outer.destroy();
      });
    };
    const say = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(text);
    };
    const refuse = (status: number, reason: string): void =>
      say(status, JSON.stringify({ kind: 'Status', code: status, reason, message: reason }));
    if (!ill || way === undefined || kind === 'other') return pass();
    switch (way) {
      case 'hangs-in-list':
        return kind === 'list' ? undefined : kind === 'watch' ? refuse(410, 'Expired') : pass();
      case 'hangs-in-watch':
        return kind === 'watch' ? undefined : pass();
      case 'hangs-in-discovery':
        return kind === 'discovery' ? undefined : pass();
      case 'is-slow':
        return void setTimeout(pass, 3000);
      case 'refuses-list':
        if (kind === 'list') return refuse(405, 'MethodNotAllowed');
        return kind === 'watch' ? refuse(410, 'Expired') : pass();
      case 'refuses-watch':
        return kind === 'watch' ? refuse(405, 'MethodNotAllowed') : pass();
      case 'is-away':
        response.writeHead(503, { 'content-type': 'text/plain' });
        return void response.end('service unavailable\n');
      case 'sends-garbage':
        return kind === 'discovery' ? pass() : say(200, '{"type":"ADDED","obj\n');
      case 'ends-watches':
        return kind === 'watch' ? say(200, '') : pass();
      case 'loses-version':
        return kind === 'watch' && Number(url.searchParams.get('resourceVersion')) < lostBelow ? say(200, '') : pass();
      case 'lacks-uids':
        return pass((text) => text.replaceAll(/"uid":"[^"]*",|,"uid":"[^"]*"/g, ''));
      case 'drops-connections':
        return kind === 'discovery' ? pass() : void response.destroy();
    }
  });
  let lostBelow = 0;
  return {
    server,
    fallIll() {
      ill = true;
      lostBelow = Number.POSITIVE_INFINITY;
      for (const cut of cuts) cut();
      // Versions of later lists are served.
      setTimeout(() => {
        lostBelow = 0;
      }, 6000);
    },
    recover() {
      ill = false;
    },
  };
}
