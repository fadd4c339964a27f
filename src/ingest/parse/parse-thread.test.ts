import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { ManualClock, settle } from '../../../test/kit/manual-clock.ts';
import { listText, open, reflectorBench, type TestPod, whole } from '../../../test/kit/reflector-bench.ts';
import { silentLogger } from '../../base/log.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { ParseThread, ParseThreadLost } from './parse-thread.ts';

const recipe = { names: { apiVersion: 'v1', kind: 'Pod' }, redacted: [], slots: [] };
const never = new AbortController().signal;
const dying = new URL(
  'data:text/javascript,import{parentPort}from"node:worker_threads";parentPort.postMessage({type:"ready"});parentPort.on("message",()=>process.exit(7))',
);

function thread(script?: URL): { parser: ParseThread; errors: string[] } {
  const errors: string[] = [];
  const log = { ...silentLogger, error: (_: object, message: string) => void errors.push(message) };
  const parser = new ParseThread(log, new ManualClock(), script);
  onTestFinished(() => parser.close());
  return { parser, errors };
}

async function read(parser: ParseThread, chunks: readonly string[]): Promise<{ names: string[]; version: string }> {
  await parser.warm();
  const page = parser.page(recipe, 1_000_000);
  if (page === null) throw new Error('the thread takes no page');
  try {
    for (const chunk of chunks) page.push(Buffer.from(chunk));
    page.end();
    const names: string[] = [];
    for (;;) {
      const { objects, head } = await page.next(never);
      if (objects === null) return { names, version: head.resourceVersion };
      names.push(...objects.map((object) => ('name' in object ? object.name : object.text)));
    }
  } finally {
    page.leave();
  }
}

const pods = (count: number): TestPod[] =>
  Array.from({ length: count }, (_, index) => ({ name: `p${index}`, rv: index + 1 }));

test('objects come in their order, whatever the chunks, and several pages do not mix', async () => {
  const { parser } = thread();
  const text = listText(7, pods(300));
  const expected = { names: pods(300).map(({ name }) => name), version: '7' };
  const cut = (size: number): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  expect(await Promise.all([read(parser, [text]), read(parser, cut(1000)), read(parser, cut(37))])).toEqual([
    expected,
    expected,
    expected,
  ]);
});

test.runIf(process.platform === 'linux')('the thread gives way to the others, which stay as they are', async () => {
  const niceOf = (task: string): number => {
    // See proc(5): the name stands in brackets, nice is the nineteenth field.
    const stat = readFileSync(`/proc/self/task/${task}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  };
  const tasks = (): string[] => readdirSync('/proc/self/task');
  const before = new Map(tasks().map((task) => [task, niceOf(task)]));
  const { parser } = thread();
  await parser.warm();
  const fresh = tasks().filter((task) => !before.has(task));
  expect(fresh.map(niceOf)).toContain(constants.priority.PRIORITY_BELOW_NORMAL);
  for (const [task, nice] of before) if (tasks().includes(task)) expect(niceOf(task)).toBe(nice);
});

test('a thread that is closed while it loads a native module does not abort the process', () => {
  const module = new URL('./parse-thread.ts', import.meta.url).href;
  const folder = mkdtempSync(join(tmpdir(), 'portolan-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // A file, because a thread inherits the options of a script that is given as text.
  const script = join(folder, 'close-threads.mjs');
  writeFileSync(
    script,
    `import { ParseThread } from ${JSON.stringify(module)};
    const clock = { sleep: (ms, signal) => new Promise((_, reject) => signal.addEventListener('abort', reject)) };
    for (let turn = 0; turn < 60; turn += 1) {
      const thread = new ParseThread({ error: (detail) => console.log(detail) }, clock);
      await thread.warm();
      thread.page(${JSON.stringify(recipe)}, 1_000_000);
      // Closes within the first three milliseconds of the page, which load the module.
      for (const until = performance.now() + turn / 20; performance.now() < until; );
      await thread.close();
    }
    console.log('closed');`,
  );
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect([status, signal, stdout, stderr]).toEqual([0, null, 'closed\n', '']);
});

test.each([
  ['a list that breaks off', '{"items":[{"metadata":', 'truncated'],
  ['what is no list', '<html>', 'bad json'],
  ['an object without a name', '{"items":[{"metadata":{}}]}', 'invalid object'],
])('%s is the error that it is in the ingest thread', async (_, text, reason) => {
  const { parser } = thread();
  const failed = read(parser, [text]);
  await expect(failed).rejects.toThrow(ProtocolError);
  await expect(failed).rejects.toMatchObject({ reason });
  expect((await read(parser, [listText(1, pods(1))])).names).toEqual(['p0']);
});

test('there is room again when what is ahead was taken, or nobody wants it', async () => {
  const { parser } = thread();
  await parser.warm();
  const page = parser.page(recipe, 10_000_000);
  if (page === null) throw new Error('the thread takes no page');
  page.push(Buffer.from('{"items":['));
  await page.room(never);
  const large = (name: string): Buffer =>
    Buffer.from(`{"metadata":{"name":"${name}","uid":"u","resourceVersion":"1"},"x":"${'x'.repeat(2_200_000)}"},`);
  page.push(large('a'));
  const room = vi.fn();
  const waiting = page.room(never).then(room);
  await settle();
  expect(room).not.toHaveBeenCalled();
  expect((await page.next(never)).objects).toHaveLength(1);
  await waiting;
  page.push(large('b'));
  const last = page.room(never);
  page.leave();
  await last;
});

test('a wait ends with its signal', async () => {
  const { parser } = thread();
  await parser.warm();
  const page = parser.page(recipe, 1000);
  const stop = new AbortController();
  const waiting = page?.next(stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  page?.leave();
});

test('a thread that dies fails its pages, loudly, and takes no more of them', async () => {
  const { parser, errors } = thread(dying);
  await expect(read(parser, ['{'])).rejects.toThrow(ParseThreadLost);
  expect(errors).toEqual([expect.stringMatching(/parse thread was lost/)]);
  expect(parser.page(recipe, 1000)).toBeNull();
});

test('the thread forgets a page that failed on the way to it', async () => {
  const script =
    'import{parentPort}from"node:worker_threads";parentPort.postMessage({type:"ready"});parentPort.on("message",({type})=>type==="leave"&&process.exit(7))';
  const { parser, errors } = thread(new URL(`data:text/javascript,${script}`));
  await parser.warm();
  const page = parser.page(recipe, 1000);
  page?.fail(new Error('the connection broke off'));
  await expect(page?.next(never)).rejects.toThrow('broke off');
  page?.leave();
  await vi.waitFor(() => expect(errors).toHaveLength(1));
});

test('it ends when no page has come for a while, and begins again with the next', async () => {
  const clock = new ManualClock();
  const parser = new ParseThread(silentLogger, clock);
  await read2(parser);
  await clock.advance(10_000);
  await read2(parser);
  await parser.close();
  expect(parser.page(recipe, 1000)).toBeNull();
  await parser.close();

  async function read2(of: ParseThread): Promise<void> {
    expect((await read(of, [listText(1, pods(2))])).names).toEqual(['p0', 'p1']);
  }
});

const firstPage = listText(10, [{ name: 'a', rv: 1 }], { continue: 'more' });
const lastPage = listText(10, [
  { name: 'b', rv: 2 },
  { name: 'c', rv: 3 },
]);

async function synced(bench: ReturnType<typeof reflectorBench>, parser: ParseThread): Promise<void> {
  await parser.warm();
  const seen = Promise.withResolvers<void>();
  const reflector = bench.reflector({ parser, changed: () => reflector.phase === 'WATCHING' && seen.resolve() });
  reflector.start();
  await seen.promise;
}

test('a reflector lists its later pages through it', async () => {
  const { parser } = thread();
  const pages = vi.spyOn(parser, 'page');
  const bench = reflectorBench();
  bench.client.answer(whole(firstPage), whole(lastPage), open());
  await synced(bench, parser);
  expect(pages.mock.results.map(({ value }) => value !== null)).toEqual([true]);
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@2', 'c uid-c@3']);
  expect(bench.changes()).toEqual(['RESET']);
});

test('when it dies in the middle of a list, the list is read again in the ingest thread', async () => {
  const { parser, errors } = thread(dying);
  const bench = reflectorBench();
  bench.client.answer(whole(firstPage), whole(lastPage), whole(firstPage), whole(lastPage), open());
  await synced(bench, parser);
  expect(bench.pods()).toEqual(['a uid-a@1', 'b uid-b@2', 'c uid-c@3']);
  expect(errors).toHaveLength(1);
});

test('nobody waits for its start: until it is ready, lists are parsed in the ingest thread', async () => {
  const { parser } = thread(
    new URL(
      'data:text/javascript,import{parentPort}from"node:worker_threads";parentPort.on("message",()=>process.exit())',
    ),
  );
  const bench = reflectorBench();
  bench.client.answer(whole(firstPage), whole(lastPage), open());
  bench.reflector({ parser }).start();
  while (bench.version() === null) await new Promise((resolve) => setImmediate(resolve));
  expect(bench.pods()).toHaveLength(3);
});

test('R19: a stop in the middle of a page leaves nothing behind', async () => {
  const { parser } = thread();
  await parser.warm();
  const bench = reflectorBench();
  bench.client.answer(whole(firstPage), open(lastPage.slice(0, 100)));
  const reflector = bench.reflector({ parser });
  reflector.start();
  while (bench.client.asked.length < 2) await new Promise((resolve) => setImmediate(resolve));
  await settle();
  await reflector.stop();
  await parser.close();
  expect(bench.pods()).toEqual([]);
});
