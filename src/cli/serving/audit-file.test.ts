import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../../test/kit/eventually.ts';
import { ManualClock } from '../../../test/kit/manual-clock.ts';
import { recordedLogger } from '../../../test/kit/recorded-logger.ts';
import { sharedDirectory } from '../../../test/kit/temporary-directory.ts';
import { callerOf } from '../../../test/kit/user.ts';
import { silentLogger } from '../../base/log.ts';
import type { WriteNote } from '../../operation/write-access.ts';
import { type AuditFile, openAuditFile } from './audit-file.ts';

type Line = Readonly<Record<string, unknown>>;

const linesIn = (path: string): readonly Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);

/** A denial of a user of its own, so that no budget ends it. */
function denied({ audit }: AuditFile, name: string, message = ''): void {
  audit.denied({ caller: callerOf(name), code: 'FORBIDDEN', message, address: null });
}

function noteOf(name: string, more: Partial<WriteNote> = {}): WriteNote {
  return {
    ...{ stage: 'intended', caller: callerOf('jane', ['devs']), operation: null, verb: 'delete', dryRun: false },
    ...{ planId: null, requestId: null, cluster: 'east', resource: 'pods', namespace: 'shop', name, subresource: null },
    ...more,
  };
}

const unavailable = expect.objectContaining({ code: 'AUDIT_UNAVAILABLE' });

async function opened(path: string, log = silentLogger, clock?: ManualClock): Promise<AuditFile> {
  const file = await openAuditFile(path, log, clock);
  onTestFinished(() => file.close());
  return file;
}

test('lines that got lost before they came here are told, also if no other line follows', async () => {
  const path = join(sharedDirectory('audit-file'), 'missed.jsonl');
  const file = await opened(path);
  file.lines.missed(5);
  await file.close();
  expect(linesIn(path)).toMatchObject([{ event: 'missing', lines: 5 }]);
  expect(file.state()).toMatchObject({ missing: 5 });
});

test('the file is private, and lines are appended to it', async () => {
  const path = join(sharedDirectory('audit-file'), 'audit.jsonl');
  const first = await opened(path);
  denied(first, 'a');
  await first.close();
  const second = await opened(path);
  denied(second, 'b');
  await second.close();
  expect(linesIn(path).map(({ user }) => user)).toEqual(['a', 'b']);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('lines that wait are bounded by their length too, and those beyond it are counted', async () => {
  const path = join(sharedDirectory('audit-file'), 'audit.jsonl');
  const file = await opened(path);
  const groups = ['x'.repeat(40_000)];
  for (let user = 0; user < 900; user += 1) {
    file.audit.denied({ caller: callerOf(`user-${user}`, groups), code: 'FORBIDDEN', message: '', address: null });
  }
  await eventually(() => expect(file.state().written + file.state().missing).toBe(900));
  expect(file.state().missing).toBeGreaterThan(400);
  await eventually(() =>
    expect(linesIn(path).find(({ event }) => event === 'missing')).toMatchObject({ lines: file.state().missing }),
  );
});

test.each([
  ['renamed', (path: string) => renameSync(path, `${path}.1`)],
  ['removed', (path: string) => rmSync(path)],
])('a file that was %s is made again', async (_what, change) => {
  const path = join(sharedDirectory('audit-file'), 'audit.jsonl');
  const file = await opened(path);
  denied(file, 'a');
  await eventually(() => expect(linesIn(path)).toHaveLength(1));
  change(path);
  denied(file, 'b');
  await eventually(() => expect(linesIn(path).map(({ user }) => user)).toEqual(['b']));
  expect(file.state()).toEqual({ isWritable: true, written: 2, missing: 0 });
});

test.each(['a folder', 'a file in a folder that is not there'])('%s is refused', async (what) => {
  const folder = sharedDirectory('audit-file');
  const path = what === 'a folder' ? folder : join(folder, 'nowhere', 'audit.jsonl');
  await expect(openAuditFile(path, silentLogger)).rejects.toMatchObject({ code: 'CONFIGURATION' });
});

test('a folder that goes and comes back leaves a line with the number of missing lines', async () => {
  const folder = join(sharedDirectory('audit-file'), 'logs');
  mkdirSync(folder);
  const path = join(folder, 'audit.jsonl');
  const { entries, logger } = recordedLogger();
  const file = await opened(path, logger);
  denied(file, 'a');
  await eventually(() => expect(linesIn(path)).toHaveLength(1));
  rmSync(folder, { recursive: true });
  denied(file, 'b');
  denied(file, 'c');
  await eventually(() => expect(file.state()).toEqual({ isWritable: false, written: 1, missing: 2 }));
  mkdirSync(folder);
  await eventually(() => expect(linesIn(path)).toMatchObject([{ event: 'missing', lines: 2 }]));
  denied(file, 'd');
  await eventually(() => expect(linesIn(path)).toMatchObject([{ event: 'missing', lines: 2 }, { user: 'd' }]));
  expect(file.state()).toEqual({ isWritable: true, written: 2, missing: 2 });
  expect(entries.map(({ text }) => text)).toEqual([
    'the audit log cannot be written',
    'the audit log can be written again',
  ]);
});

/** A file system of 64 KiB, for root. */
function smallDisk(): string {
  const folder = sharedDirectory('audit-disk');
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  onTestFinished(() => void execFileSync('umount', ['--lazy', folder]));
  return folder;
}

test.skipIf(process.getuid?.() !== 0)(
  'a full disk costs lines, which are counted, and no more when it is free again',
  async () => {
    const folder = smallDisk();
    const path = join(folder, 'audit.jsonl');
    const file = await opened(path);
    writeFileSync(join(folder, 'other'), 'x'.repeat(48 * 1024));
    let sent = 0;
    const send = (): void => {
      sent += 1;
      denied(file, `user-${sent}`, 'm'.repeat(300));
    };
    for (let turn = 0; turn < 100; turn += 1) send();
    await eventually(() => expect(file.state().isWritable).toBe(false));
    for (let turn = 0; turn < 30; turn += 1) send();
    // Each line is whole.
    expect(linesIn(path).length).toBeLessThan(60);
    rmSync(join(folder, 'other'));
    await eventually(() => expect(file.state().isWritable).toBe(true));
    for (let turn = 0; turn < 5; turn += 1) send();
    await eventually(() => {
      const lines = linesIn(path);
      const missing = lines
        .filter(({ event }) => event === 'missing')
        .reduce((sum, line) => sum + Number(line['lines']), 0);
      expect(missing).toBe(file.state().missing);
      expect(missing).toBeGreaterThan(20);
      expect(lines.filter(({ event }) => event === 'denied').length + missing).toBe(sent);
      expect(lines.at(-1)).toMatchObject({ user: `user-${sent}` });
    });
  },
);

test('the line of a write is in the file when its note resolves', async () => {
  const path = join(sharedDirectory('audit-file'), 'audit.jsonl');
  const file = await opened(path);
  await file.writes.note(noteOf('a'));
  expect(linesIn(path)).toEqual([
    {
      ...{
        time: expect.any(String),
        event: 'write',
        stage: 'intended',
        user: 'jane',
        groups: ['devs'],
        verb: 'delete',
      },
      ...{ dryRun: false, cluster: 'east', resource: 'pods', namespace: 'shop', name: 'a' },
    },
  ]);
  expect(file.state()).toEqual({ isWritable: true, written: 1, missing: 0 });
});

test('a device without room refuses each note at once, also in the pause after a failure', async () => {
  const file = await opened('/dev/full');
  for (const name of ['a', 'b', 'c']) await expect(file.writes.note(noteOf(name))).rejects.toEqual(unavailable);
  expect(file.state()).toEqual({ isWritable: false, written: 0, missing: 3 });
});

test('a note ends the pause and is tried alone: lines that wait are not lost by it', async () => {
  const folder = join(sharedDirectory('audit-file'), 'logs');
  mkdirSync(folder);
  const path = join(folder, 'audit.jsonl');
  const clock = new ManualClock();
  const file = await opened(path, silentLogger, clock);
  rmSync(folder, { recursive: true });
  await expect(file.writes.note(noteOf('a'))).rejects.toEqual(unavailable);
  // The first pause.
  await eventually(() => expect(clock.sleepers).toBe(1));
  denied(file, 'bob');
  await expect(file.writes.note(noteOf('b'))).rejects.toEqual(unavailable);
  mkdirSync(folder);
  await file.writes.note(noteOf('c'));
  await eventually(() =>
    expect(linesIn(path)).toMatchObject([
      { event: 'missing', lines: 2 },
      { event: 'write', name: 'c' },
      { event: 'denied', user: 'bob' },
    ]),
  );
  expect(file.state()).toEqual({ isWritable: true, written: 2, missing: 2 });
});

test('a disk that does not answer refuses a note after two seconds', async () => {
  const folder = sharedDirectory('audit-file');
  const clock = new ManualClock();
  const path = join(folder, 'audit.jsonl');
  const file = await opened(path, silentLogger, clock);
  // Opening a pipe waits for its other end, in each thread that works on files.
  const threads = Array.from({ length: Number(process.env['UV_THREADPOOL_SIZE'] ?? 4) }, (_, index) => {
    const pipe = join(folder, `pipe-${index}`);
    execFileSync('mkfifo', [pipe]);
    return { pipe, opening: open(pipe, 'r') };
  });
  const first = file.writes.note(noteOf('a'));
  const second = file.writes.note(noteOf('b'));
  const refused = Promise.allSettled([first, second]);
  await clock.advance(2000);
  expect(await refused).toEqual([
    { status: 'rejected', reason: unavailable },
    { status: 'rejected', reason: unavailable },
  ]);
  for (const { pipe, opening } of threads) {
    const end = openSync(pipe, 'w');
    await (await opening).close();
    closeSync(end);
  }
  // The disk had the first line already. The second one is taken back.
  await eventually(() => expect(linesIn(path)).toMatchObject([{ name: 'a' }, { event: 'missing', lines: 1 }]));
});

test.skipIf(process.getuid?.() !== 0)('a full disk refuses notes, and takes them when it is free again', async () => {
  const folder = smallDisk();
  const path = join(folder, 'audit.jsonl');
  const file = await opened(path);
  writeFileSync(join(folder, 'other'), 'x'.repeat(64 * 1024 - 4096));
  const long = { changedPaths: ['spec'.repeat(60)] };
  let taken = 0;
  const fill = async (): Promise<void> => {
    for (;;) {
      await file.writes.note(noteOf(`pod-${taken}`, long));
      taken += 1;
    }
  };
  await expect(fill()).rejects.toEqual(unavailable);
  await expect(file.writes.note(noteOf('refused', long))).rejects.toEqual(unavailable);
  rmSync(join(folder, 'other'));
  await file.writes.note(noteOf('last'));
  const lines = linesIn(path);
  const names = lines.filter(({ event }) => event === 'write').map(({ name }) => name);
  expect(names).toEqual([...Array.from({ length: taken }, (_, index) => `pod-${index}`), 'last']);
  const missing = lines.filter(({ event }) => event === 'missing').map((line) => Number(line['lines']));
  expect(missing.reduce((sum, count) => sum + count, 0)).toBe(2);
});
