/** Servers whose texts have every character that a terminal obeys: a gateway, and what stands before an API server. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';
import { type LoopbackServer, startLoopbackServer } from './loopback-server.ts';

/** Titles, colours and bells by C0, DEL and C1; marks of text direction; other line ends. */
export const evil = [
  'a\u001b]0;owned\u0007b\u001b[2Jc\rd\ne\u000bf\u0008g\u007f',
  'h\u009b31mi\u0085j\u0090k\u202el\u2066m\u200en\u200fo\u061cp\u2028q\u2029r',
].join('');
/** The same without line breaks, for places that refuse them. */
export const evilWord = 'w\u001b]0;owned\u0007x\u009b31m\u007fy\u202e\u200fz';

/** What a terminal must never get from a text of somebody else. Line breaks and tabs are the command's own. */
export const forbidden = /(?![\t\n])\p{Cc}|\p{Bidi_Control}|[\u2028\u2029]/u;
/** The same for what is not a terminal. */
export const forbiddenElsewhere = /(?![\t\n])\p{Cc}/u;

export const hostileAnswers = [
  'data',
  'errors',
  'unauthenticated',
  'refusal',
  'html',
  'redirect',
  'ends',
  'nonsense',
] as const;
export type HostileAnswer = (typeof hostileAnswers)[number];

export interface HostileGateway {
  readonly url: string;
  close(): Promise<void>;
}

const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));

const error = (code: string): object => ({ message: `${evil}\0`, path: [evil, 0], extensions: { code } });

/** A gateway that answers everything in one hostile way. */
export async function startHostileGateway(kind: HostileAnswer): Promise<HostileGateway> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (kind === 'html') return void response.end(`<title>${evil}</title>`);
    if (kind === 'refusal') return json(response, { error: evil }, 403);
    if (kind === 'redirect')
      return void response.writeHead(302, { location: 'http://x.example/\u009b31m\u0085' }).end();
    if (kind === 'unauthenticated') return json(response, { errors: [error('UNAUTHENTICATED')] }, 401);
    if (request.url === '/readyz') return json(response, readiness);
    if (kind === 'errors') return json(response, { data: null, errors: [error(evil)] });
    return json(response, answerTo(String((JSON.parse(body) as { query?: unknown }).query)));
  });
  const sockets = new WebSocketServer({ server, handleProtocols: () => 'graphql-transport-ws' });
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      const { type, id } = JSON.parse(String(text)) as { readonly type: string; readonly id?: string };
      if (type === 'connection_init') socket.send(JSON.stringify({ type: 'connection_ack', payload: { evil } }));
      if (type !== 'subscribe') return;
      if (kind === 'ends') return socket.close(4400, evilWord);
      if (kind === 'nonsense') return socket.send(JSON.stringify({ id, type: 'next', payload: { errors: [null] } }));
      const send = (of: string, payload?: unknown): void => socket.send(JSON.stringify({ id, type: of, payload }));
      send('next', { data: { podChanges: { phase: evil, [evil]: evil, cursor: evil } }, errors: [error(evil)] });
      if (kind === 'data') send('complete');
      else send('error', [error(evil)]);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const readiness = {
  ready: true,
  status: evil,
  failing: [{ cluster: evil, resource: evil, phase: evil, error: evil }],
};

const writtenItem = (result: string, errors: readonly object[] = []): object => ({
  target: {
    cluster: evil,
    apiVersion: `${evil}/v1`,
    kind: evil,
    namespace: evil,
    name: evil,
    place: `docs[0], ${evil}`,
  },
  result,
  after: { apiVersion: evil, kind: evil, metadata: { name: evil }, [evil]: [evil, `${evil}\0`] },
  changes: [
    { path: evil, before: evil, after: `${evil}\n${evil}`, isWithheld: true, managers: [evil] },
    { path: evil, before: { [evil]: evil }, after: [evil], isWithheld: false, managers: [] },
  ],
  warnings: [evil],
  errors,
  seen: false,
});

/** What a mutation answers. */
const written = {
  planId: evil,
  complete: true,
  items: [
    writtenItem('CREATED'),
    writtenItem('CHANGED'),
    writtenItem('DELETED'),
    writtenItem('NONE', [{ code: 'FIELD_CONFLICT', message: evil }]),
    writtenItem('NONE', [{ code: 'PLAN_CHANGED', message: evil }]),
  ],
};

function answerTo(query: string): object {
  if (query.startsWith('subscription Portolan(')) return { data: { writes: { done: 5, total: 5, write: written } } };
  if (query.includes('clusters {')) return { data: { clusters: [{ __typename: 'Cluster' }] } };
  if (query.includes('totalCount')) return { data: { objects: { totalCount: 3 } } };
  if (query.includes('__type(')) {
    return { data: { __type: { fields: [evil, 'podChanges'].map((name) => ({ name, args: [{ name: 'since' }] })) } } };
  }
  if (!query.includes('resources {')) return { data: { [evil]: evil }, errors: [error(evil)] };
  const row = {
    key: evil,
    group: evil,
    kind: evil,
    plural: 'evils',
    shortNames: [evil],
    list: evil,
    subscription: evil,
    cluster: evil,
    phase: evil,
    synced: true,
    objects: 1,
    lastEventAt: evil,
    staleSince: evil,
    restarts: [{ reason: evil, count: 1 }],
    error: evil,
    collections: [{ namespace: evil, phase: evil, synced: true, objects: 1, error: evil }],
    relations: ['INFERRED', 'SHIPPED'].map((origin, index) => ({
      name: `${evil}${index}`,
      to: evil,
      reverse: evil,
      origin,
      way: index === 0 ? 'REFERENCE' : 'SELECTOR',
      paths: [evil],
      references: 1,
      missing: 1,
      declaration: { [evil]: evil, list: [evil] },
    })),
  };
  return { data: { resources: [row, { ...row, subscription: `${evil}2`, cluster: `${evil}2` }] } };
}

/** In the objects of a cluster, stands for `evil`. */
export const placeholder = 'zzevilzz';

/** Passes requests on to an API server, and writes `evil` for the placeholder in its answers. */
export function startHostileApiServer(target: string): Promise<LoopbackServer> {
  const written = JSON.stringify(evil).slice(1, -1);
  return startLoopbackServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = 'GET', url = '/', headers } = request;
    if (url.startsWith('/api/v1/configmaps')) {
      return json(response, { kind: 'Status', status: 'Failure', code: 403, reason: evil, message: evil }, 403);
    }
    const { accept = '*/*', 'content-type': type = 'application/json' } = headers;
    const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) };
    const answer = await fetch(new URL(url, target), { method, headers: { accept, 'content-type': type }, ...body });
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' });
    if (answer.body === null) return void response.end();
    for await (const chunk of answer.body) {
      if (
        !response.write(
          Buffer.from(chunk)
            .toString()
            .replaceAll(placeholder, () => written),
        )
      )
        await once(response, 'drain');
    }
    response.end();
  });
}

/** Refuses every request with a Status, or answers with a page. */
export function startRefusingApiServer(kind: 'status' | 'page'): Promise<LoopbackServer> {
  return startLoopbackServer((_request, response) => {
    if (kind === 'page') response.end(`<title>${evil}</title>`);
    else json(response, { kind: 'Status', status: 'Failure', code: 500, reason: evil, message: evil }, 500);
  });
}
