/**
 * An API server with one constantly changing collection, in a separate process; for tests of event floods.
 *
 *   storm-process.ts CHANGES PER_SECOND BODY_BYTES -> message { port } ; 'begin' -> changes ; 'how' -> message { paused, behind }
 *
 * The server keeps no objects. Change n is a change of object n % 1000 at resourceVersion `base + n`, so a list or a watch can begin at
 * any version. A watch is written only as fast as its socket accepts data.
 */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { discoveryOf, openApiIndex, openApiOf } from '../model/model-documents.ts';
import { configMaps } from '../model/model-storage.ts';
import { base, stormObject, stormObjects, stormVersion } from './storm.ts';

const [changes = 0, perSecond = 0, bodyBytes = 0] = process.argv.slice(2).map(Number);
const filler = 'x'.repeat(bodyBytes);
let began: number | null = null;
let paused = 0;
let behind = 0;

const now = (): number =>
  began === null ? 0 : Math.min(changes, Math.floor(((performance.now() - began) / 1000) * perSecond));

function watch(answer: ServerResponse, from: number): void {
  let sent = from;
  let held = false;
  const write = (): void => {
    if (held) return;
    behind = Math.max(behind, now() - sent);
    while (sent < now() && !held) {
      let text = '';
      for (const until = Math.min(now(), sent + 100); sent < until; ) {
        sent += 1;
        text += `{"type":"MODIFIED","object":${stormObject(sent, filler)}}\n`;
      }
      held = !answer.write(text);
    }
    if (!held) return;
    paused += 1;
    answer.once('drain', () => {
      held = false;
      write();
    });
  };
  const timer = setInterval(write, 10);
  answer.on('close', () => clearInterval(timer));
  answer.writeHead(200, { 'content-type': 'application/json' });
  answer.flushHeaders();
}

function list(answer: ServerResponse): void {
  const at = now();
  const items = Array.from({ length: stormObjects }, (_, index) => stormObject(stormVersion(index, at) - base, filler));
  const metadata = JSON.stringify({ resourceVersion: String(base + at) });
  answer.end(`{"kind":"ConfigMapList","apiVersion":"v1","metadata":${metadata},"items":[${items.join(',')}]}`);
}

const server = createServer((request, answer) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://storm');
  const announced = { resources: [configMaps], stale: new Set<string>() };
  answer.setHeader('content-type', 'application/json');
  if (pathname === '/api' || pathname === '/apis') {
    answer.end(JSON.stringify(discoveryOf(announced, pathname === '/api')));
  } else if (pathname === '/openapi/v3') answer.end(JSON.stringify(openApiIndex()));
  else if (pathname === '/openapi/v3/api/v1') answer.end(JSON.stringify(openApiOf(configMaps)));
  else if (pathname === '/api/v1/namespaces/kube-system') answer.end('{"metadata":{"uid":"storm"}}');
  else if (pathname !== configMaps.path) answer.writeHead(404).end();
  else if (searchParams.get('watch') === null) list(answer);
  else watch(answer, Number(searchParams.get('resourceVersion')) - base);
});
process.on('message', (message) => {
  if (message === 'begin') began = performance.now();
  else process.send?.({ paused, behind });
});
process.on('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
