/** A server on loopback that passes every request on to an API server, and records it. */
import { request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { pipeline } from 'node:stream';
import { type Answer, type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** The API server behind a proxy. */
export interface ProxiedServer {
  readonly url: string;
  /** All requests get its rights. Absent: requests keep their own credentials. */
  readonly token?: string;
  /** PEM of its certificate. */
  readonly ca?: string;
}

/** @param intercept is waited for before a request is passed on. It may answer it instead of the API server, and returns true then. */
export function startRecordingProxy(
  { url: target, token, ca }: ProxiedServer,
  intercept: (...args: Parameters<Answer>) => boolean | Promise<boolean> = () => false,
): Promise<LoopbackServer> {
  const send = target.startsWith('https:') ? sendHttps : sendHttp;
  const trust = ca === undefined ? {} : { ca };
  const credentials = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return startLoopbackServer(async (request, response) => {
    if (await intercept(request, response)) return;
    const { method, url, headers } = request;
    const sent = { method, headers: { ...headers, ...credentials }, ...trust };
    const onward = send(new URL(url ?? '/', target), sent, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      // Without this a watch has no headers before its first event.
      response.flushHeaders();
      pipeline(answer, response, () => {});
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    pipeline(request, onward, () => {});
  });
}
