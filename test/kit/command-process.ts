/** Commands as a person runs them: a process with its output in pipes, or on a terminal of its own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { programs } from './programs.ts';

export interface CommandOptions {
  /** The working directory, and the home of the user. */
  readonly folder: string;
  readonly home?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly program?: keyof typeof programs;
  /** Standard input; empty without it. On a terminal, what is typed. */
  readonly input?: string;
  /** Ends the command by SIGTERM as soon as its output, or its log, has this text. */
  readonly until?: string | RegExp;
}

export interface EndedCommand {
  readonly code: number | null;
  /** On a terminal, both outputs. */
  readonly out: string;
  readonly err: string;
}

/** Runs it to its end. */
export function runCommand(args: readonly string[], options: CommandOptions): Promise<EndedCommand> {
  return ending([process.execPath, programs[options.program ?? 'portolan'], ...args], options);
}

/** The variables of its process. */
export function environmentOf({ folder, home = folder, environment }: CommandOptions): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], HOME: home, TMPDIR: home, TERM: 'xterm', ...environment };
}

/** util-linux's script makes terminals. */
export const hasTerminals = /util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '');
/** The end of a suite's name that says why it is skipped. */
export const missingTerminals = hasTerminals ? '' : ' (needs script of util-linux)';

/** The same on a terminal. Line breaks are those of the terminal: CR and LF. */
export function runOnTerminal(args: readonly string[], options: CommandOptions): Promise<EndedCommand> {
  return ending(onTerminal([process.execPath, programs[options.program ?? 'portolan'], ...args]), options);
}

/** The command line that runs this one on a terminal. */
export function onTerminal(line: readonly string[]): readonly string[] {
  const quoted = line.map((each) => `'${each.replaceAll("'", `'\\''`)}'`);
  return ['script', '--quiet', '--return', '--command', `exec ${quoted.join(' ')}`, '/dev/null'];
}

async function ending([file = '', ...args]: readonly string[], options: CommandOptions): Promise<EndedCommand> {
  const { folder, until, input } = options;
  const child = spawn(file, args, {
    cwd: folder,
    env: environmentOf(options),
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  // A command that does not read its input may end before it is written.
  child.stdin?.on('error', () => {}).end(input);
  // A test that fails leaves no process behind.
  onTestFinished(() => void child.kill('SIGKILL'));
  let seen = '';
  let isStopped = until === undefined;
  const look = (chunk: Buffer): void => {
    seen += chunk;
    if (isStopped || seen.search(until ?? '') === -1) return;
    isStopped = true;
    stop(child);
  };
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the output is not piped');
  stdout.on('data', look);
  stderr.on('data', look);
  const [[code], out, err] = await Promise.all([once(child, 'close'), text(stdout), text(stderr)]);
  return { code: code as number | null, out, err };
}

/** Ends the command. On a terminal, `script` is its parent. */
function stop(child: ChildProcess): void {
  if (child.spawnfile !== 'script') return void child.kill('SIGTERM');
  const children = `/proc/${child.pid}/task/${child.pid}/children`;
  const [pid = ''] = existsSync(children) ? readFileSync(children, 'utf8').split(' ') : [];
  // It may have ended by itself. 0 would be the group of this process.
  if (pid !== '') process.kill(Number(pid), 'SIGTERM');
}

/** The commands that --help lists, without `help` itself. */
export async function commandsOf(folder: string, program: keyof typeof programs = 'portolan'): Promise<string[]> {
  const { out } = await runCommand(['--help'], { folder, program });
  const [, section = ''] = /\nCommands:\n(.*?)\n\n/s.exec(out) ?? [];
  const names = section.split('\n').flatMap((line) => /^ {2}([a-z][\w-]*)/.exec(line)?.[1] ?? []);
  return names.filter((name) => name !== 'help');
}
