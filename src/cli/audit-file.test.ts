import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../test/kit/eventually.ts';
import { recordedLogger } from '../../test/kit/recorded-logger.ts';
import { sharedDirectory } from '../../test/kit/temporary-directory.ts';
import { callerOf } from '../../test/kit/user.ts';
import { silentLogger } from '../base/log.ts';
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

async function opened(path: string, log = silentLogger): Promise<AuditFile> {
  const file = await openAuditFile(path, log);
  onTestFinished(() => file.close());
  return file;
}

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
