/**
 * A child process that ends with this one, however this one ends.
 *
 * A small shell stands above the child and reads a pipe from this process. A line on it is a signal's name, which is passed on to the
 * child. The pipe's end, which comes even when this process is killed, means to kill the child and to remove its folder.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** `$1` is the folder to remove when this process has gone, or empty; the rest is the command. */
const guard = `
folder=$1; shift
exec 3<&0
"$@" </dev/null 3<&- &
child=$!
(
  if read -r signal <&3; then kill -s "$signal" $child
  else trap '' TERM; kill -s KILL $child; sleep 0.2; [ -z "$folder" ] || rm -rf "$folder"
  fi
) &
wait $child
code=$?
kill $! 2>/dev/null
exit $code
`;

export interface GuardedCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Standard output and error are appended to it. */
  readonly log: string;
  /** A folder to remove when this process ends without ending the child; empty for none. */
  readonly folder: string;
}

export class GuardedProcess {
  readonly #command: GuardedCommand;
  readonly #child: ChildProcess;

  constructor(command: GuardedCommand) {
    this.#command = command;
    const { file, args, log, folder } = command;
    const output = openSync(log, 'a');
    this.#child = spawn('/bin/sh', ['-c', guard, 'guard', folder, file, ...args], { stdio: ['pipe', output, output] });
    closeSync(output);
    this.#child.on('error', () => {});
    this.#child.stdin?.on('error', () => {});
  }

  get ended(): boolean {
    return this.#child.pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Ends the process and waits until it has gone. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    if (this.ended) return;
    const exited = once(this.#child, 'exit');
    this.#child.stdin?.write(`${signal.replace('SIG', '')}\n`);
    await exited;
  }

  /** An error with the end of the process's log; `problem` says what is wrong with it. */
  failure(problem: string): Error {
    const lines = readFileSync(this.#command.log, 'utf8').split('\n').slice(-15);
    return new Error(`${basename(this.#command.file)} ${problem}; its log ends with:\n${lines.join('\n')}`);
  }
}
