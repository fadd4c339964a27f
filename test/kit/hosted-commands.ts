/**
 * The process of command-host.ts: runs command lines one after the other, as src/main.ts runs one. It is started with the path of a socket.
 *
 *   a line on the socket (JSON as Base64) -> the folder and the environment are those of the command -> it runs
 *   -> its mark on both outputs -> its exit code on the socket
 */
import { writeSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { run } from '../../src/cli/program.ts';
import type { HostedCommand } from './command-host.ts';

const end = process.exit;
// A gateway that has not started leaves a timer that ends its process.
process.exit = (() => {}) as unknown as typeof process.exit;

const isTTY = process.stdin.isTTY === true;
const socket = connect(process.argv[2] ?? '');
for await (const line of createInterface({ input: socket })) {
  const { args, folder, environment, mark } = JSON.parse(Buffer.from(line, 'base64').toString()) as HostedCommand;
  process.chdir(folder);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, environment);
  // Standard input is empty each time.
  Object.defineProperty(process, 'stdin', { configurable: true, value: Object.assign(Readable.from([]), { isTTY }) });
  const code = await run(args);
  // Each command that a signal can end listens for it.
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(name);
  await new Promise<void>((resolve) => process.stdout.write(mark, () => resolve()));
  writeSync(2, mark);
  socket.write(`${code}\n`);
}
end();
