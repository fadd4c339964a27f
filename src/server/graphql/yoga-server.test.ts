import { describe, expect, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { handMadeSource } from '../../../test/kit/hand-made-source.ts';
import { createYogaServer } from './yoga-server.ts';

function endpoint() {
  const made = handMadeSource();
  const yoga = createYogaServer({ source: made.source, log: made.log });
  const ask = async (query: string) => {
    const response = await yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  return { ...made, yoga, ask };
}

describe('generations', () => {
  test('the next operation runs on the next one, also when its text is in the caches', async () => {
    const { ask, swap } = endpoint();
    expect((await ask('{ greeting }')).body).toEqual({
      data: { greeting: 'hello' },
      extensions: { portolan: { generation: 'first', cost: expect.anything() } },
    });
    swap('renamed');
    expect((await ask('{ greeting }')).body).toMatchObject({
      errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }],
    });
    expect((await ask('{ renamed }')).body).toMatchObject({
      data: { renamed: 'hello' },
      extensions: { portolan: { generation: 'renamed', cost: expect.anything() } },
    });
  });

  test('an operation in flight finishes on its own', async () => {
    const { ask, swap, release, leases } = endpoint();
    const answered = ask('{ held greeting }');
    await eventually(() => expect(leases.opened).toBe(1));
    swap('renamed');
    release();
    expect((await answered).body).toEqual({
      data: { held: 'released', greeting: 'hello' },
      extensions: { portolan: { generation: 'first', cost: expect.anything(), revision: 7 } },
    });
    expect(leases).toEqual({ opened: 1, ended: 1 });
  });

  test('without one the answer is CACHE_NOT_READY', async () => {
    const { ask, forget, logged } = endpoint();
    forget();
    expect((await ask('{ greeting }')).body).toMatchObject({
      errors: [{ message: expect.stringContaining('try again'), extensions: { code: 'CACHE_NOT_READY' } }],
    });
    expect(logged).toEqual([]);
  });
});

describe('requests', () => {
  test('a query may come by GET', async () => {
    const response = await endpoint().yoga.fetch('http://127.0.0.1/graphql?query={greeting}', {
      headers: { accept: 'application/json' },
    });
    expect(await response.json()).toMatchObject({ data: { greeting: 'hello' } });
  });

  test('two operations in one request are refused', async () => {
    const response = await endpoint().yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '[{"query":"{greeting}"},{"query":"{greeting}"}]',
    });
    expect(response.status).toBe(400);
  });
});
