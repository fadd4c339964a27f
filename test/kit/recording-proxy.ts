/** A server on loopback that passes every request on to an API server, and records it. */
import { request as send } from 'node:http';
import { pipeline } from 'node:stream';
import { type Answer, type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** @param intercept answers a request instead of the API server, and returns true then. */
export function startRecordingProxy(
  target: string,
  intercept: (...args: Parameters<Answer>) => boolean = () => false,
): Promise<LoopbackServer> {
  return startLoopbackServer((request, response) => {
    if (intercept(request, response)) return;
    const { method, url, headers } = request;
    const onward = send(new URL(url ?? '/', target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      pipeline(answer, response, () => {});
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    pipeline(request, onward, () => {});
  });
}
