/**
 * Messages of a log as bytes: one batch for each transfer, compressed by zstd.
 *
 *   version (1 byte) · zstd of: length of the head (4 bytes, big-endian) · head · bodies
 *
 * The head is a JSON list of the messages. In place of a body it has the size in bytes and the form of the body. The bodies follow one
 * another. They are JSONB, as the stores have them, so neither side parses them.
 */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { LogMessage, StoredBody } from '../../store/types/followed-log.ts';

/** The version of this form. */
const version = 1;
/** The compression level. A higher one saves few bytes, and takes several times the processor time. */
const level = 1;
/** Bytes of a batch that is not compressed. A larger one is refused. */
export const maxBatchBytes = 64 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** The size of a body, and 1 for JSONB or 2 for a text. */
type BodyMark = readonly [size: number, form: 1 | 2];

export async function encodeBatch(messages: readonly LogMessage[]): Promise<Uint8Array> {
  const bodies: Uint8Array[] = [];
  const marked = <T extends { readonly body: StoredBody | null }>(of: T): object => {
    const { body } = of;
    if (body === null) return of;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    bodies.push(bytes);
    return { ...of, body: [bytes.length, typeof body === 'string' ? 2 : 1] satisfies BodyMark };
  };
  const head = messages.map((message) => {
    if ('body' in message) return marked(message);
    return message.type === 'PAGE' ? { ...message, objects: message.objects.map(marked) } : message;
  });
  const text = Buffer.from(JSON.stringify(head));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(text.length);
  const packed = await compress(Buffer.concat([size, text, ...bodies]), {
    params: { [constants.ZSTD_c_compressionLevel]: level },
  });
  return Buffer.concat([Buffer.from([version]), packed]);
}

/** Throws INVALID for bytes of another version, and for damaged or too many ones. */
export async function decodeBatch(bytes: Uint8Array): Promise<readonly LogMessage[]> {
  if (bytes[0] !== version) {
    throw new PortolanError(
      'INVALID',
      `A batch of the change log has version ${bytes[0] ?? 'none'}; this program reads version ${version}. Use the same release on both sides.`,
    );
  }
  try {
    return messagesIn(await decompress(bytes.subarray(1), { maxOutputLength: maxBatchBytes }));
  } catch (error) {
    throw new PortolanError('INVALID', `A batch of the change log cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

function messagesIn(bytes: Buffer): readonly LogMessage[] {
  let at = 4 + bytes.readUInt32BE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, at)) as readonly LogMessage[];
  const whole = <T extends { readonly body: StoredBody | null }>(of: T): T => {
    if (of.body === null) return of;
    const [size, form] = of.body as unknown as BodyMark;
    const from = at;
    at += size;
    if (at > bytes.length) throw new Error('it is cut off');
    return { ...of, body: form === 1 ? bytes.subarray(from, at) : bytes.toString('utf8', from, at) };
  };
  const messages = head.map((message): LogMessage => {
    if ('body' in message) return whole(message);
    return message.type === 'PAGE' ? { ...message, objects: message.objects.map(whole) } : message;
  });
  if (at !== bytes.length) throw new Error('it has more bytes than its head says');
  return messages;
}
