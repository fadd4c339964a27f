import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { type EngineFixture, engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { serveFixture } from '../../../test/kit/served-fixture.ts';
import { userOf } from '../../../test/kit/user.ts';
import { localUser } from '../../access/caller.ts';
import type { RunningServer } from '../http-server.ts';

const query = '{ exampleComWidgets { nodes { metadata { name } } } }';
const body = JSON.stringify({ query });

async function filled(): Promise<EngineFixture> {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'a' })]);
  return fixture;
}

/** Callers are named by the header `x-name`; without it they have no user. */
async function world(): Promise<RunningServer> {
  return serveFixture(await filled(), {
    bodyBounds: { perCaller: 4 * 1024 * 1024, inAll: 8 * 1024 * 1024 },
    authenticate: ({ header }) => {
      const name = header('x-name');
      return name === undefined ? localUser : { ...localUser, name, user: userOf(name) };
    },
  });
}

/** Sockets that send less of a body than they have declared. @param declared a header line */
function stalled({ port }: RunningServer, count: number, name: string | null, declared: string): Socket[] {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1'));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const named = name === null ? '' : `X-Name: ${name}\r\n`;
  for (const socket of sockets) {
    socket.on('error', () => {});
    socket.write(
      `POST /graphql HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${named}${declared}\r\n\r\n`,
    );
    socket.write(declared.startsWith('Transfer') ? '2\r\n{ \r\n' : '{ ');
  }
  return sockets;
}

const open = (sockets: readonly Socket[]): number => sockets.filter(({ closed }) => !closed).length;

async function asks({ url }: RunningServer, name: string): Promise<unknown> {
  const headers = { 'content-type': 'application/json', 'x-name': name };
  return (await fetch(url, { method: 'POST', headers, body })).json();
}

const answer = expect.objectContaining({ data: { exampleComWidgets: { nodes: [{ metadata: { name: 'a' } }] } } });

test.each([
  ['with a length', 'Content-Length: 1048576', 4],
  ['in chunks', 'Transfer-Encoding: chunked', 4],
  ['that are short', 'Content-Length: 100', 256],
])(
  'of bodies %s that do not come, a caller has so many at a time, and the others are served',
  async (_what, declared, most) => {
    const server = await world();
    const sockets = stalled(server, most + 20, 'mallory', declared);
    await eventually(() => expect(open(sockets)).toBe(most));
    expect(await asks(server, 'alice')).toEqual(answer);
    // The bodies that began last are left, and the caller's own short requests come through.
    expect(open(sockets.slice(-most))).toBe(most);
    expect(await asks(server, 'mallory')).toEqual(answer);
  },
);

test('all callers together, and those without a user, have a bound too', async () => {
  const server = await world();
  const sockets = ['a', 'b', 'c', null].flatMap((name) => stalled(server, 3, name, 'Content-Length: 1048576'));
  await eventually(() => expect(open(sockets)).toBe(8));
  expect(await asks(server, 'alice')).toEqual(answer);
});

test('a body that has come whole is not ended, however long its answer takes', async () => {
  const held = Promise.withResolvers<void>();
  let arrived = 0;
  const fixture = await filled();
  const slow = await serveFixture(fixture, {
    pages: {
      pagesNow: () => null,
      pages: async (...given) => {
        arrived += 1;
        await held.promise;
        return fixture.pages.pages(...given);
      },
    },
    bodyBounds: { perCaller: 40 * 1024, inAll: 80 * 1024 },
  });
  const asked = Array.from({ length: 10 }, () =>
    fetch(slow.url, { method: 'POST', headers: { 'content-type': 'application/json' }, body }),
  );
  await eventually(() => expect(arrived).toBe(10));
  held.resolve();
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(Array(10).fill(200));
});
