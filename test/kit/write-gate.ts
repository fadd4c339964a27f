/**
 * A proxy before an API server that counts the writes of one client, and acts at a chosen one. Dry runs are no writes. It can hold back what
 * the API server sends in watches.
 *
 *   unsent     the act is called instead of the write: the API server never gets it
 *   racing     the act is called, and the write is passed on at once
 *   answered   the API server has answered the write, and the act is called instead of the answer
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Agent, request as sendHttps } from 'node:https';
import { pipeline, Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { startLoopbackServer } from './loopback-server.ts';

export const killMoments = ['unsent', 'racing', 'answered'] as const;
type KillMoment = (typeof killMoments)[number];

export interface WriteGate {
  readonly url: string;
  /** Of the writes so far. */
  readonly writes: readonly string[];
  /** Calls the act at a write to come; 1 is the next one. */
  arm(at: number, moment: KillMoment, act: () => void): void;
  disarm(): void;
  /** Holds back the events of watches of a resource. @param resource as the end of a path @returns lets them go */
  holdWatches(resource: string): () => void;
  close(): Promise<void>;
}

/** @param server with the PEM of its certificate */
export async function startWriteGate(server: { readonly url: string; readonly ca: string }): Promise<WriteGate> {
  const agent = new Agent({ keepAlive: true, ca: server.ca });
  const writes: string[] = [];
  let armed: { readonly at: number; readonly moment: KillMoment; readonly act: () => void } | null = null;
  let held: { readonly resource: string; readonly released: Promise<void> } | null = null;
  /** Passes bytes on, and waits while the watches of the resource are held. */
  const waiting = (url: URL): Transform =>
    new Transform({
      transform(chunk, _encoding, done) {
        const isHeld = held !== null && url.searchParams.has('watch') && url.pathname.endsWith(held.resource);
        const released = isHeld ? held?.released : undefined;
        void Promise.resolve(released).then(() => done(null, chunk));
      },
    });
  const pass = (request: IncomingMessage, response: ServerResponse, body: Buffer, onAnswer?: () => void): void => {
    const { method, url, headers } = request;
    const target = new URL(url ?? '/', server.url);
    const onward = sendHttps(target, { method, headers, agent }, (answer) => {
      if (onAnswer !== undefined) {
        answer.resume().on('end', () => {
          onAnswer();
          response.destroy();
        });
        return;
      }
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      response.flushHeaders();
      pipeline(answer, waiting(target), response, () => {});
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onAnswer === undefined && onward.destroy());
    onward.end(body);
  };
  const proxy = await startLoopbackServer(async (request, response) => {
    const body = await buffer(request);
    if (!isWrite(request, body)) return pass(request, response, body);
    writes.push(`${request.method} ${request.url?.split('?')[0]}`);
    if (armed === null || writes.length !== armed.at) return pass(request, response, body);
    const { moment, act } = armed;
    armed = null;
    if (moment === 'answered') return pass(request, response, body, act);
    act();
    if (moment === 'racing') pass(request, response, body);
    else response.destroy();
  });
  return {
    url: proxy.url,
    writes,
    arm(at, moment, act) {
      armed = { at: writes.length + at, moment, act };
    },
    disarm() {
      armed = null;
    },
    holdWatches(resource) {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = { resource, released: promise };
      return () => {
        held = null;
        resolve();
      };
    },
    async close() {
      await proxy.close();
      agent.destroy();
    },
  };
}

function isWrite({ method, url = '' }: IncomingMessage, body: Buffer): boolean {
  if (method === 'GET' || url.includes('k8s.io/v1/')) return false;
  if (url.includes('dryRun=')) return false;
  return method !== 'DELETE' || !body.includes('"dryRun"');
}
