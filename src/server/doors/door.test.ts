/** A short door. It does not deal with callers, limits, cost, audit and refusals. It does not deal with a kind in its first sync. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { type Caller, localUser, noExtra } from '../../access/caller.ts';
import { fixedRights } from '../../access/rights.ts';
import { noRows, unrestricted } from '../../access/scope.ts';
import { Admission } from '../../admission/admission.ts';
import type { Denial } from '../../admission/audit.ts';
import { defaultBounds } from '../../admission/caller-limits.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Generation } from '../../graphql/generation/generation.ts';
import { everything } from '../../query/plan/filter.ts';
import { readList } from '../../reads/lists/list.ts';
import { admittedDoor, type Door, operate } from './door.ts';

const nobody = { id: 'none', of: () => noRows };
const cost = 2;

/** The names of the widgets, a line each. */
function namesDoor(admission: Admission<Generation>): Door {
  return admittedDoor(admission, '/names.txt', async (_request, response, admitted) => {
    const names = await operate(admission, admitted, { name: 'names.txt', cost: 10 * cost }, async (operation) => {
      const kinds = operation.generation.kinds(['widgets.example.com']);
      const page = { filter: everything, first: 10, orderBy: [{ path: 'metadata.name', direction: 'DESC' as const }] };
      const list = await readList(operation, kinds, page, { projection: {}, cost });
      return (await list.edges()).map(({ node }) => node.row.name);
    });
    response.writeHead(200, { 'content-type': 'text/plain' }).end(names.join('\n'));
  });
}

/** The widgets a and b, unless they are not synced yet; `alice` may list them. */
async function world({ isSynced = true, bounds = defaultBounds } = {}) {
  const engine = { rights: fixedRights(({ name }) => (name === 'alice' ? unrestricted : nobody)), waitForSyncMs: 5000 };
  const fixture = engineFixture({ engine });
  await fixture.declare(widget());
  const sync = () => fixture.sync(widgets, [made({ name: 'a' }), made({ name: 'b' })]);
  if (isSynced) await sync();
  const denials: Denial[] = [];
  const counted: string[] = [];
  const authenticate = ({ header }: { header(name: string): string | undefined }): Caller => {
    const name = header('x-name');
    if (name === undefined) throw new PortolanError('UNAUTHENTICATED', 'Say who you are.');
    return { name, user: { user: name, groups: [], uid: '', extra: noExtra }, validUntil: null };
  };
  const counters = {
    count: (type: string, code: string) => void counted.push(`${type} ${code}`),
    took: () => {},
    subscribed: () => () => {},
  };
  const audit = { denied: (denial: Denial) => void denials.push(denial) };
  const admission = new Admission(fixture.engine.source, authenticate, counters, bounds, audit);
  const door = namesDoor(admission);
  const server = createServer((request, response) => void door.answer(request, response));
  await new Promise<void>((listens) => server.listen(0, '127.0.0.1', listens));
  onTestFinished(() => void server.close());
  const ask = async (name?: string) => {
    const { port } = server.address() as AddressInfo;
    const headers: Record<string, string> = name === undefined ? {} : { 'x-name': name };
    const response = await fetch(`http://127.0.0.1:${port}/names.txt`, { headers });
    return { status: response.status, text: await response.text() };
  };
  return { ask, denials, counted, sync };
}

function codeIn(text: string): string {
  return (JSON.parse(text) as { errors: { extensions: { code: string } }[] }).errors[0]?.extensions.code ?? '';
}

test('a caller gets what the roles allow, and the operation is counted', async () => {
  const { ask, denials, counted } = await world();
  expect(await ask('alice')).toEqual({ status: 200, text: 'b\na' });
  expect(counted).toEqual(['query OK']);
  expect(denials).toEqual([]);
});

describe('a refusal has a status and a code, and the audit has a line', () => {
  test('for a caller without a name', async () => {
    const { ask, denials } = await world();
    const { status, text } = await ask();
    expect([status, codeIn(text)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(denials).toMatchObject([{ caller: null, code: 'UNAUTHENTICATED', path: ['/names.txt'] }]);
  });

  test('for a caller without rights, with the resource', async () => {
    const { ask, denials, counted } = await world();
    const { status, text } = await ask('bob');
    expect([status, codeIn(text)]).toEqual([403, 'FORBIDDEN']);
    expect(denials).toMatchObject([{ caller: { name: 'bob' }, code: 'FORBIDDEN', resources: ['widgets.example.com'] }]);
    expect(counted).toEqual(['query FORBIDDEN']);
  });
});

test('a caller who has used up the values of this minute waits', async () => {
  const { ask, denials } = await world({ bounds: { ...defaultBounds, costPerMinute: 30 } });
  expect((await ask('alice')).status).toBe(200);
  const { status, text } = await ask('alice');
  expect([status, codeIn(text)]).toEqual([429, 'TOO_MANY_REQUESTS']);
  expect(denials).toEqual([]);
});

test('a request waits for the first sync of its kind', async () => {
  const { ask, counted, sync } = await world({ isSynced: false });
  const asked = ask('alice');
  await sync();
  expect(await asked).toEqual({ status: 200, text: 'b\na' });
  expect(counted).toEqual(['query OK']);
});

test('an operation that cannot begin is counted', async () => {
  const made = handMadeSource();
  const counted: string[] = [];
  const counters = {
    count: (type: string, code: string) => void counted.push(`${type} ${code}`),
    took: () => {},
    subscribed: () => () => {},
  };
  const admission = new Admission(made.source, () => localUser, counters);
  const credentials = { header: () => undefined, headers: () => [], headerNames: () => [] };
  const admitted = await admission.admit({ credentials, address: null });
  made.forget();
  const asked = operate(admission, admitted, { name: 'early', cost: 1 }, () => Promise.resolve('an answer'));
  await expect(asked).rejects.toMatchObject({ code: 'CACHE_NOT_READY' });
  expect(counted).toEqual(['query CACHE_NOT_READY']);
});
