/**
 * Reads a file that somebody else may have put there: a configuration, a kubeconfig, a certificate, a token.
 *
 * Never: waits for the writer of a pipe, and never reads without end (/dev/zero). A pipe that the shell made for this process is read,
 * as in `--kubeconfig <(kind get kubeconfig)`.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

const { O_RDONLY, O_NONBLOCK, O_NOCTTY } = constants;
const shellsPipe = /^\/(?:dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/;
const chunkBytes = 65_536;

/** @throws Error that says why, for what is no regular file, is larger than `mostBytes`, or cannot be read. */
export function readSmallFile(path: string, mostBytes: number = 16 * 2 ** 20): Buffer {
  const isFromShell = shellsPipe.test(path);
  const descriptor = openSync(path, isFromShell ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOCTTY);
  try {
    const found = fstatSync(descriptor);
    // Reading a directory throws EISDIR.
    const isReadable = found.isFile() || found.isDirectory() || (isFromShell && found.isFIFO());
    if (!isReadable) throw new Error(`${path} is a ${found.isFIFO() ? 'pipe' : 'device'}, no regular file`);
    const chunks: Buffer[] = [];
    for (let size = 0; ; ) {
      const chunk = Buffer.alloc(chunkBytes);
      const count = readSync(descriptor, chunk);
      if (count === 0) return Buffer.concat(chunks);
      size += count;
      if (size > mostBytes) throw new Error(`${path} has more than ${mostBytes} bytes`);
      chunks.push(chunk.subarray(0, count));
    }
  } finally {
    closeSync(descriptor);
  }
}
