/**
 * What both sides of a log over HTTP/2 know: its path, and its frames. A frame is a kind (1 byte), a size (4 bytes, big-endian), and that many bytes.
 *
 *   batch   the bytes of batch-codec.ts
 *   alive   nothing; the feeder is there, and has nothing new
 *   error   { code, message } as JSON; the last frame
 */
import { PortolanError } from '../../base/errors.ts';
import { maxBatchBytes } from '../batch/batch-codec.ts';

export const frameKinds = { batch: 0, alive: 1, error: 2 } as const;
type FrameKind = (typeof frameKinds)[keyof typeof frameKinds];

interface Frame {
  readonly kind: FrameKind;
  readonly bytes: Buffer;
}

/** The path of the log of a cell. */
export function logPath(cell: string): string {
  return `/v1/cells/${encodeURIComponent(cell)}/log`;
}

const headBytes = 5;

export function frameOf(kind: FrameKind, bytes: Uint8Array = new Uint8Array()): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(kind);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

/** The frames of a stream of bytes. Throws INVALID for a frame that is too large, of an unknown kind, or cut off. */
export async function* framesIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  let wanted = headBytes;
  for await (const chunk of chunks) {
    pieces.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const bytes = Buffer.concat(pieces);
      const kind = bytes.readUInt8(0);
      const length = bytes.readUInt32BE(1);
      if (kind > frameKinds.error || length > maxBatchBytes) throw foreign('a frame of another form');
      wanted = headBytes + length;
      const isWhole = bytes.length >= wanted;
      const rest = isWhole ? bytes.subarray(wanted) : bytes;
      pieces = rest.length === 0 ? [] : [rest];
      size = rest.length;
      if (!isWhole) break;
      yield { kind: kind as FrameKind, bytes: bytes.subarray(headBytes, wanted) };
      wanted = headBytes;
    }
  }
  if (size > 0) throw foreign('half a frame');
}

function foreign(what: string): PortolanError {
  return new PortolanError('INVALID', `The feeder sent ${what}. Use the same release on both sides.`);
}
