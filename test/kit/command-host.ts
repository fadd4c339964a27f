/**
 * Commands that share one process, which runs them one after the other (hosted-commands.ts). What a command prints, and which files it
 * reads and writes, is that of a process of its own, but Node starts and Portolan is imported only once.
 *
 * Owns: the process, and its end with the test file.
 * Never: runs a command that a signal ends, or one with a text on standard input. Those are for command-process.ts.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type CommandOptions, type EndedCommand, environmentOf, onTerminal } from './command-process.ts';
import { sharedDirectory } from './temporary-directory.ts';

const program = fileURLToPath(new URL('hosted-commands.ts', import.meta.url));

/** What the process is told of a command. */
export interface HostedCommand {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Written to both outputs when the command has ended. */
  readonly mark: string;
}

/** Runs a command in the shared process. On a terminal, `out` has both outputs. */
type RunHosted = (args: readonly string[], options: Omit<CommandOptions, 'input' | 'until'>) => Promise<EndedCommand>;

/** Called once, at the top of a test file. The process starts with the first command. */
export function commandHost(place: 'pipes' | 'terminal'): RunHosted {
  let starting: Promise<Host> | null = null;
  afterAll(async () => (await starting)?.stop());
  return async (args, options) => {
    starting ??= Host.start(place);
    return (await starting).run(args, options);
  };
}

class Host {
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  /** The lines of the socket: an exit code each. */
  readonly #codes: AsyncIterator<string>;
  readonly #output = { out: '', err: '' };
  readonly #gone: Promise<never>;
  #look = (): void => {};

  static async start(place: 'pipes' | 'terminal'): Promise<Host> {
    const path = join(sharedDirectory('host'), 'socket');
    const server = createServer().listen(path);
    const own = [process.execPath, '--no-wasm-code-gc', program, path];
    const [file = '', ...args] = place === 'terminal' ? onTerminal(own) : own;
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [socket] = (await once(server, 'connection', { signal: AbortSignal.timeout(60_000) })) as [Socket];
    server.close();
    return new Host(child, socket);
  }

  private constructor(child: ChildProcess, socket: Socket) {
    this.#child = child;
    this.#socket = socket;
    this.#codes = createInterface({ input: socket })[Symbol.asyncIterator]();
    this.#gone = once(child, 'exit').then(() =>
      Promise.reject(new Error(`the process of the commands has ended: ${this.#output.out}${this.#output.err}`)),
    );
    this.#gone.catch(() => {});
    this.#collect('out', must(child.stdout, 'a pipe'));
    this.#collect('err', must(child.stderr, 'a pipe'));
  }

  #collect(name: 'out' | 'err', stream: Readable): void {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      this.#output[name] += chunk;
      this.#look();
    });
  }

  async run(args: readonly string[], options: CommandOptions): Promise<EndedCommand> {
    const mark = randomUUID();
    const marked = new Promise<void>((resolve) => {
      this.#look = () => {
        if (`${this.#output.out}${this.#output.err}`.split(mark).length === 3) resolve();
      };
    });
    const { folder, program: name } = options;
    const given = name === 'kubectl-portolan' ? ['kubectl', ...args] : args;
    const command: HostedCommand = { args: given, folder, environment: environmentOf(options), mark };
    // Readline takes U+2028 for the end of a line.
    this.#socket.write(`${Buffer.from(JSON.stringify(command)).toString('base64')}\n`);
    const [{ value: code }] = await Promise.race([Promise.all([this.#codes.next(), marked]), this.#gone]);
    const { out, err } = this.#output;
    // What a command writes after its end counts for the next one.
    Object.assign(this.#output, { out: '', err: '' });
    return { code: Number(code), out: out.replaceAll(mark, ''), err: err.replaceAll(mark, '') };
  }

  async stop(): Promise<void> {
    this.#socket.end();
    // A command that hangs does not end with the socket.
    const killing = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await this.#gone.catch(() => {});
    clearTimeout(killing);
  }
}
