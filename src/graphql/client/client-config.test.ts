/** The printed modules, as an application uses them. */
import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { type PrintedModules, printModules } from '../../../test/kit/printed-modules.ts';
import { scalars } from '../types/scalars.ts';
import { apolloConfig, apolloTypes, urqlConfig, urqlTypes } from './client-config.ts';
import { codegenConfig, scalarTypes } from './codegen-config.ts';

let printed: PrintedModules;

beforeAll(async () => {
  printed = await printModules();
});
afterAll(() => printed.remove());

describe('foldChanges', () => {
  const synced = (message: object) => ({ phase: 'LIVE', reset: false, cursor: 'c1', changes: [], ...message });
  const was = (type: string, id: string, name?: string) => ({
    type,
    id,
    object: type === 'REMOVED' ? null : { id, name },
  });

  test('keeps the order, replaces in place, and is the same when told twice', () => {
    const { hold, foldChanges } = printed.apollo;
    const messages = [
      synced({ phase: 'SNAPSHOT', reset: true, changes: [was('ADDED', '1', 'a'), was('ADDED', '2', 'b')] }),
      synced({ phase: 'SNAPSHOT', changes: [was('ADDED', '3', 'c')] }),
      synced({ phase: 'SYNCED', cursor: 'c3' }),
      synced({ changes: [was('MODIFIED', '1', 'A'), was('REMOVED', '2')], removedIds: ['2'], cursor: 'c4' }),
    ];
    let held = hold();
    for (const message of messages)
      held = foldChanges(
        foldChanges(held, message),
        message.phase === 'SNAPSHOT' ? { ...message, reset: false } : message,
      );
    expect(held).toMatchObject({
      objects: [
        { id: '1', name: 'A' },
        { id: '3', name: 'c' },
      ],
      cursor: 'c4',
      whole: true,
    });
  });

  test('has no cursor to go on from until it is whole', () => {
    const { hold, foldChanges } = printed.urql;
    const read = hold([{ id: '1' }, { id: '2' }], 'c0');
    expect(read).toMatchObject({ cursor: 'c0', whole: true });
    const lost = foldChanges(read, synced({ phase: 'GAP' }));
    expect(lost).toMatchObject({ objects: [{ id: '1' }, { id: '2' }], cursor: null, whole: false });
    const begun = foldChanges(lost, synced({ phase: 'SNAPSHOT', reset: true, changes: [was('ADDED', '2')] }));
    expect(begun).toMatchObject({ objects: [{ id: '2' }], cursor: null, whole: false });
    expect(foldChanges(begun, synced({ phase: 'SYNCED', cursor: 'c9' }))).toMatchObject({ cursor: 'c9', whole: true });
    expect(read.objects).toHaveLength(2);
  });
});

test.each([
  [0, 125, 250],
  [3, 1000, 2000],
  [1000, 5000, 10_000],
])('reconnect tries for ever, and waits after %i attempts from %i to %i ms', async (retries, least, most) => {
  const { retryAttempts, shouldRetry, retryWait } = printed.urql.reconnect;
  expect([retryAttempts, shouldRetry()]).toEqual([Number.POSITIVE_INFINITY, true]);
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const waits = new Set<number>();
  for (let round = 0; round < 50; round += 1) {
    const began = Date.now();
    const waiting = retryWait(retries);
    await vi.runAllTimersAsync();
    await waiting;
    waits.add(Date.now() - began);
  }
  expect(Math.min(...waits)).toBeGreaterThanOrEqual(least);
  expect(Math.max(...waits)).toBeLessThanOrEqual(most);
  expect(waits.size).toBeGreaterThan(5);
});

test('resumable sends the last cursor again, and none while a snapshot is under way', () => {
  let sent: { variables?: Record<string, unknown> } = {};
  let push = (_data: object | null): void => {};
  const client = printed.apollo.resumable({
    on: () => 'kept',
    subscribe(payload: object, sink: { next(result: object): void }) {
      sent = payload;
      push = (data) => sink.next({ data });
      return () => {};
    },
  });
  const got: unknown[] = [];
  const next = (result: object): void => void got.push(result);
  const payload = { query: 's', variables: { since: 'c0', filter: 1 } };
  client.subscribe(payload, { next });
  expect(client.on()).toBe('kept');
  expect(sent.variables).toEqual({ since: 'c0', filter: 1 });
  push({ podChanges: { phase: 'SYNCED', cursor: 'c1' } });
  expect(sent.variables).toEqual({ since: 'c1', filter: 1 });
  push({ podChanges: { phase: 'LIVE', cursor: 'c2' } });
  expect(sent.variables).toEqual({ since: 'c2', filter: 1 });
  push({ podChanges: { phase: 'GAP', cursor: 'c2' } });
  expect(sent.variables).toEqual({ since: null, filter: 1 });
  push({ podChanges: { phase: 'SNAPSHOT', cursor: 'c7' } });
  expect(sent.variables).toEqual({ since: null, filter: 1 });
  push({ podChanges: { phase: 'SYNCED', cursor: 'c7' } });
  expect(sent.variables).toEqual({ since: 'c7', filter: 1 });
  push(null);
  expect(got).toHaveLength(6);
  expect(payload.variables.since).toBe('c0');
});

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Type-checks files of the folder of the printed modules with packages as the repository has them; what tsc prints. */
async function check(name: string, files: Readonly<Record<string, string>>, options: object): Promise<string> {
  const folder = join(printed.folder, name);
  mkdirSync(folder);
  const strict = { strict: true, noUncheckedIndexedAccess: true, noUnusedLocals: true, noUnusedParameters: true };
  const target = { target: 'es2022', lib: ['es2022', 'dom', 'dom.iterable'], module: 'nodenext' };
  const compilerOptions = { ...strict, ...target, noEmit: true, types: [], ...options };
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const { stdout } = await promisify(execFile)(process.execPath, [tsc, '-p', folder]).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

/** An application that uses everything that the modules export. */
const application = `
  import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
  import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
  import { cacheExchange } from '@urql/exchange-graphcache';
  import { Client, fetchExchange, subscriptionExchange } from '@urql/core';
  import { createClient } from 'graphql-ws';
  import * as apollo from './apollo.js';
  import * as urql from './urql.js';
  interface Pod { readonly id: string; readonly metadata: { readonly name: string } }
  const live = apollo.resumable(createClient({ url: 'ws://localhost/graphql', ...apollo.reconnect }));
  const cache: InMemoryCache = apollo.withPortolan(new InMemoryCache(apollo.cacheConfig));
  cache.policies.addTypePolicies({ Query: { fields: { pods: apollo.listPolicy() } } });
  const link = ApolloLink.split(({ operationType }) => operationType === 'subscription', new GraphQLWsLink(live), new HttpLink({ uri: '/graphql' }));
  export const client = new ApolloClient({ cache, link });
  let held = apollo.hold<Pod>();
  held = apollo.foldChanges(held, { phase: 'LIVE', reset: false, cursor: 'a', changes: [] });
  export const names: string[] = held.objects.map((pod) => pod.metadata.name);
  apollo.applyChanges(cache, { phase: 'LIVE', reset: false, cursor: 'a', changes: [] }, { filter: { namespaces: ['a'] } });
  export const read = urql.foldChanges(urql.hold([{ id: '1', n: 1 }], 'c'), { phase: 'GAP', reset: false, cursor: 'a', changes: [] });
  export const numbers: number[] = read.objects.map(({ n }) => n);
  export const other = new Client({
    url: '/graphql',
    preferGetMethod: false,
    exchanges: [cacheExchange(urql.cacheConfig), fetchExchange, subscriptionExchange({
      forwardSubscription: ({ query = '', variables }) => ({
        subscribe: (sink) => ({ unsubscribe: live.subscribe({ query, variables }, sink) }),
      }),
    })],
  });
`;

describe('in TypeScript at its strictest', () => {
  beforeAll(() => symlinkSync(join(root, 'node_modules'), join(printed.folder, 'node_modules')));

  test('the modules themselves fit the clients they are for', async () => {
    const files = { 'use.ts': application, 'apollo.js': apolloConfig(), 'urql.js': urqlConfig() };
    expect(await check('checked', files, { allowJs: true, checkJs: true, skipLibCheck: true })).toBe('');
  });

  test('so do their declarations, without the modules, and what is wrong is found', async () => {
    const files = { 'use.ts': application, 'apollo.d.ts': apolloTypes(), 'urql.d.ts': urqlTypes() };
    expect(await check('declared', files, { skipLibCheck: true })).toBe('');
    const wrong = application
      .replace("phase: 'LIVE', reset: false,", "phase: 'LIVE',")
      .replace('pod.metadata.name', 'pod.name');
    const found = await check('wrong', { ...files, 'use.ts': wrong }, { skipLibCheck: true });
    expect(found).toContain("Property 'reset' is missing");
    expect(found).toContain("Property 'name' does not exist on type 'Pod'");
    expect(found.match(/error TS/g)).toHaveLength(2);
  });

  test('the declarations are sound by themselves, and say what the modules have', async () => {
    const compare = (client: string): string => `
      import * as actual from './${client}.js';
      import type * as declared from './declared-${client}.js';
      export const same: typeof declared = actual;
      export const all: keyof typeof actual extends keyof typeof declared ? true : never = true;
    `;
    const files = {
      'apollo.js': apolloConfig(),
      'declared-apollo.d.ts': apolloTypes(),
      'compare-apollo.ts': compare('apollo'),
      'urql.js': urqlConfig(),
      'declared-urql.d.ts': urqlTypes(),
      'compare-urql.ts': compare('urql'),
    };
    expect(await check('compared', files, { allowJs: true, checkJs: true, skipLibCheck: true })).toBe('');
  });
});

test('the config for generated types names every scalar of the schema', async () => {
  expect(Object.keys(scalarTypes).sort()).toEqual(scalars.map(({ name }) => name).sort());
  const file = join(printed.folder, 'codegen.ts');
  writeFileSync(file, codegenConfig());
  const { default: config } = (await import(pathToFileURL(file).href)) as {
    default: { generates: Record<string, { config: { scalars: object } }> };
  };
  expect(config.generates['src/gql/']?.config.scalars).toEqual(scalarTypes);
});
