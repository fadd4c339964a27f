/**
 * A kubelet that serves logs and nothing else: GET /containerLogs/NAMESPACE/POD/CONTAINER as a kubelet answers it, over HTTPS on loopback.
 * kube-apiserver proxies `pods/log` to the address of the Pod's Node, whose status names this one.
 *
 * `sinceTime` has a resolution of seconds, because the API server sends it so. As a kubelet does, it sends no headers before the first byte.
 */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { CertificateAuthority } from './certificates.ts';

interface LoggedLine {
  /** RFC 3339 with nine digits. */
  readonly time: string;
  readonly text: string | Buffer;
}

interface Instance {
  readonly lines: LoggedLine[];
  hasEnded: boolean;
  readonly followers: Set<() => void>;
  /** What its followers get again and again after its lines, as fast as they take it; null: nothing. */
  flood: Buffer | null;
}

export class FakeKubelet {
  readonly #server: Server;
  readonly #containers = new Map<string, Instance[]>();
  /** Queries of all requests, in their order. */
  readonly requests: { readonly path: string; readonly query: URLSearchParams }[] = [];
  #last = 0n;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(authority: CertificateAuthority): Promise<FakeKubelet> {
    const server = createServer(await authority.issue({ names: ['IP:127.0.0.1'], commonName: 'kubelet' }));
    const kubelet = new FakeKubelet(server);
    server.on('request', (request, response) => void kubelet.#answer(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return kubelet;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The status of a Node whose kubelet this is. */
  get nodeStatus() {
    return {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: this.port } },
    };
  }

  /** Answers in progress. */
  get following(): number {
    return [...this.#containers.values()].flat().reduce((sum, { followers }) => sum + followers.size, 0);
  }

  /** The same of one namespace. */
  followingIn(namespace: string): number {
    return [...this.#containers]
      .filter(([place]) => place.startsWith(`${namespace}/`))
      .flatMap(([, instances]) => instances)
      .reduce((sum, { followers }) => sum + followers.size, 0);
  }

  /** Writes a line. @param place namespace/pod/container @param time default: now, later than all before */
  write(place: string, text: string | Buffer, time = this.now()): string {
    const instance = this.#newest(place);
    instance.lines.push({ time, text });
    for (const follower of instance.followers) follower();
    return time;
  }

  /** The container writes these bytes again and again, as fast as its followers take them. */
  flood(place: string, bytes: Buffer): void {
    this.#newest(place).flood = bytes;
  }

  /** A time that is later than all before. */
  now(): string {
    const now = BigInt(Date.now()) * 1_000_000n;
    this.#last = now > this.#last ? now : this.#last + 1n;
    const seconds = new Date(Number(this.#last / 1_000_000n)).toISOString().slice(0, 19);
    return `${seconds}.${String(this.#last % 1_000_000_000n).padStart(9, '0')}Z`;
  }

  /** The instance has ended, and its followers are answered to the end. */
  end(place: string): void {
    const instance = this.#newest(place);
    instance.hasEnded = true;
    for (const follower of instance.followers) follower();
  }

  /** Ends the instance, and begins the next one. */
  restart(place: string): void {
    this.end(place);
    this.#containers.get(place)?.push(emptyInstance());
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }

  #newest(place: string): Instance {
    const instances = this.#containers.get(place) ?? [emptyInstance()];
    this.#containers.set(place, instances);
    const newest = instances.at(-1);
    if (newest === undefined) throw new Error('a container has an instance');
    return newest;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'https://kubelet');
    const place = pathname.replace('/containerLogs/', '');
    this.requests.push({ path: place, query });
    const instances = this.#containers.get(place) ?? [];
    this.#newest(place);
    const instance = query.get('previous') === 'true' ? instances.at(-2) : this.#newest(place);
    if (instance === undefined) {
      const name = place.split('/').at(-1);
      response.writeHead(400).end(`previous terminated container "${name}" in pod not found`);
      return;
    }
    response.setHeader('transfer-encoding', 'chunked');
    await send(instance, query, response);
  }
}

async function send(instance: Instance, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const since = sinceOf(query);
  const wanted = (line: LoggedLine): boolean => since === null || Date.parse(line.time) >= since;
  const tail = query.get('tailLines');
  const isTimed = query.get('timestamps') === 'true';
  let at = tail === null ? 0 : Math.max(0, instance.lines.length - Number(tail));
  let isGone = false;
  let wake = (): void => {};
  const follower = (): void => wake();
  response.once('close', () => {
    isGone = true;
    wake();
  });
  instance.followers.add(follower);
  try {
    while (!isGone) {
      const parts: Buffer[] = [];
      while (at < instance.lines.length && parts.length < 3000) {
        const line = instance.lines[at];
        at += 1;
        if (line === undefined || !wanted(line)) continue;
        if (isTimed) parts.push(Buffer.from(`${line.time} `));
        parts.push(Buffer.from(line.text), newline);
      }
      if (parts.length > 0 && !response.write(Buffer.concat(parts))) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          response.once('drain', resolve);
        });
      } else if (at >= instance.lines.length && instance.flood !== null) {
        const isTaken = response.write(instance.flood);
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (isTaken) setImmediate(resolve);
          else response.once('drain', resolve);
        });
      } else if (at >= instance.lines.length) {
        if (instance.hasEnded || query.get('follow') !== 'true') break;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
  } finally {
    instance.followers.delete(follower);
    response.end();
  }
}

const newline = Buffer.from('\n');

function sinceOf(query: URLSearchParams): number | null {
  const time = query.get('sinceTime');
  if (time !== null) return Date.parse(time);
  const seconds = query.get('sinceSeconds');
  return seconds === null ? null : Date.now() - Number(seconds) * 1000;
}

function emptyInstance(): Instance {
  return { lines: [], hasEnded: false, followers: new Set(), flood: null };
}
