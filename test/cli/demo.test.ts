/** The demo as a person meets it: its first line, its answers, and how it ends and what it leaves. */
import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { must } from '../../src/base/must.ts';
import { Database } from '../../src/store/sqlite/database.ts';
import { commandFolder, ending, firstLine } from '../kit/command-folder.ts';
import { eventually } from '../kit/eventually.ts';
import { data } from '../kit/graphql-client.ts';
import { openAcknowledged } from '../kit/raw-socket.ts';

const { folder, portolan, run, kubeconfig } = commandFolder();

/** Runs a demo without Pods that logs errors only. */
const emptyDemo = (...flags: readonly string[]) =>
  run(['demo', '--port', '0', '--pods', '0', ...flags, '--log-level', 'error']);

describe('demo', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('says where it is, answers, and ends on %s', async (signal) => {
    const child = portolan(['demo', '--port', '0', '--pods', '50']);
    const exited = once(child, 'exit');
    const line = await firstLine(child);
    expect(line).toMatch(/^Playground: http:\/\/127\.0\.0\.1:\d+\/graphql$/);
    const url = line.slice('Playground: '.length);
    await eventually(async () => {
      const ready = await fetch(url.replace('/graphql', '/readyz'));
      expect([ready.status, await ready.json()]).toMatchObject([200, { ready: true, failing: [] }]);
    });
    const { pods } = await data<{ pods: { totalCount: number } }>(url, '{ pods(first: 1) { totalCount } }');
    expect(pods.totalCount).toBeGreaterThan(10);

    const told = await run(['status', '--all', '--url', url]);
    expect([told.code, told.err]).toEqual([0, '']);
    expect(told.out).toMatch(/^pods +demo +WATCHING +\d+ /m);
    expect(told.out).toMatch(/ 0 failing; ready\.\n$/);

    const socket = await openAcknowledged(url);
    socket.send({ id: '1', type: 'subscribe', payload: { query: 'subscription { podChanges { phase } }' } });
    expect(await socket.next()).toMatchObject({
      type: 'next',
      payload: { data: { podChanges: { phase: 'SNAPSHOT' } } },
    });

    child.kill(signal);
    // At a terminal the process hears it twice: once itself, once from npm. The second comes while the first is acted on.
    expect(await socket.closed).toMatchObject({ code: 1001 });
    child.kill(signal);
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(folder())).toEqual([]);
  });

  test.each(['SIGINT', 'SIGHUP'] as const)(
    'ends in order on %s while it starts, and leaves nothing',
    async (signal) => {
      const child = portolan(['demo', '--port', '0', '--pods', '2000']);
      const ended = ending(child);
      await eventually(() => expect(readdirSync(folder())).not.toEqual([]));
      child.kill(signal);
      expect((await ended).code).toBe(0);
      expect(readdirSync(folder())).toEqual([]);
    },
  );

  test('closes its store in order on SIGTERM during the first sync', async () => {
    const child = portolan(['demo', '--port', '0', '--pods', '4000', '--data', 'kept.db']);
    const ended = ending(child);
    await eventually(() => expect(existsSync(join(folder(), 'kept.db-wal'))).toBe(true), 60_000, 10);
    child.kill('SIGTERM');
    expect((await ended).code).toBe(0);
    const database = new Database(join(folder(), 'kept.db'), { readonly: true });
    expect(database.statement(`SELECT value FROM meta WHERE key = 'clean'`).get()?.[0]).toBe(1);
    database.close();
  });

  test('ends in order when the reader of its output is gone', async () => {
    const child = portolan(['demo', '--port', '0', '--pods', '50']);
    const exited = once(child, 'exit');
    child.stdout?.destroy();
    child.stderr?.destroy();
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(folder())).toEqual([]);
  });

  test('ends in order when the reader of its log goes away later', async () => {
    const child = portolan(['demo', '--port', '0', '--pods', '50', '--log-level', 'debug']);
    const exited = once(child, 'exit');
    await once(must(child.stdout, 'a pipe'), 'data');
    child.stderr?.destroy();
    expect(await exited).toEqual([0, null]);
    expect(readdirSync(folder())).toEqual([]);
  });

  test('drains and ends in order when the reader of its audit log goes away', async () => {
    const cluster = await startSimCluster({ objects: 'empty' });
    onTestFinished(() => cluster.close());
    const options = ['--kinds', 'pods', '--auth', 'token', '--audit-log', '-', '--drain', '1s', '--port', '0'];
    const child = portolan(['serve', '--kubeconfig', kubeconfig(cluster.url), ...options]);
    const [exited, err] = [once(child, 'exit'), text(must(child.stderr, 'a pipe'))];
    const [line] = (await once(must(child.stdout, 'a pipe'), 'data')) as [Buffer];
    const url = line.toString().replace('Playground: ', '').trim();
    child.stdout?.destroy();
    const ask = () => fetch(url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } });
    // The audit log has a line for a request without a token.
    expect((await ask()).status).toBe(401);
    await eventually(async () => expect((await ask()).headers.get('connection')).toBe('close'));
    expect(await exited).toEqual([0, null]);
    expect(await err).toContain('the gateway ends');
  });

  test('writes JSON lines only on standard error that is no terminal', async () => {
    const child = portolan(['demo', '--port', '0', '--pods', '50']);
    const ended = ending(child);
    const lines = createInterface({ input: must(child.stderr, 'a pipe') });
    await new Promise<void>((resolve) => lines.on('line', (line) => line.includes('complete') && resolve()));
    child.kill('SIGTERM');
    const { code, err } = await ended;
    expect(code).toBe(0);
    const entries = err
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { readonly level: number; readonly msg: string });
    expect(entries.map(({ msg }) => msg)).toContain('the first sync is complete');
    expect(entries.filter(({ level }) => level > 30)).toEqual([]);
  });

  test('names a mistake in --kinds, and ends', async () => {
    const { code, err } = await emptyDemo('--kinds', 'pods,deploymnts');
    expect(code).toBe(1);
    expect(err).toBe(
      'portolan: --kinds names "deploymnts" (did you mean deployments?), which no cluster serves; correct the name, or write plural.group for a definition that is installed later.\n',
    );
  });

  test('leaves nothing beside a file that is no store', async () => {
    writeFileSync(join(folder(), 'README.md'), '# A text\n');
    const { code, err } = await emptyDemo('--data', 'README.md');
    expect(code).toBe(1);
    expect(err).toContain('README.md is not a store of Portolan');
    expect(readdirSync(folder())).toEqual(['README.md']);
  });
});
