/**
 * A batch of log entries as bytes: compressed by zstd, one batch for each transfer.
 *
 *   version (1 byte) · zstd of: length of the head (4 bytes, big-endian) · head · bodies
 *
 * The head is a JSON list with one list for each change. It has the members of the change in the order of `members`, then the size and the
 * form of its body. The bodies follow one another. They are JSONB, as the stores have them, so neither side parses them.
 */
import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { messageOf, PortolanError } from '../../base/errors.ts';
import type { FollowedChange, StoredBody } from '../../store/types/followed-log.ts';

/** The version of this form. */
const version = 1;
/** The compression level. A higher one saves few bytes, and takes several times the processor time. */
const level = 1;
/** Bytes of a batch that is not compressed. A larger one is refused. */
const maxBatchBytes = 64 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

const members = [
  'seq',
  'type',
  'key',
  'cluster',
  'objectId',
  'namespace',
  'name',
  'uid',
  'resourceVersion',
  'at',
  'managers',
] as const satisfies readonly (keyof FollowedChange)[];

/** Size and form of a body: 0 for none, 1 for JSONB, 2 for a text. */
type BodyForm = 0 | 1 | 2;

export async function encodeBatch(changes: readonly FollowedChange[]): Promise<Uint8Array> {
  const bodies: Uint8Array[] = [];
  const head = changes.map((change) => {
    const { body } = change;
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    if (bytes !== null) bodies.push(bytes);
    const form: BodyForm = body === null ? 0 : typeof body === 'string' ? 2 : 1;
    return [...members.map((member) => change[member]), bytes?.length ?? 0, form];
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
export async function decodeBatch(bytes: Uint8Array): Promise<readonly FollowedChange[]> {
  if (bytes[0] !== version) {
    throw new PortolanError(
      'INVALID',
      `A batch of the change log has version ${bytes[0] ?? 'none'}; this program reads version ${version}. Use the same release on both sides.`,
    );
  }
  try {
    return changesIn(await decompress(bytes.subarray(1), { maxOutputLength: maxBatchBytes }));
  } catch (error) {
    throw new PortolanError('INVALID', `A batch of the change log cannot be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
}

function changesIn(bytes: Buffer): readonly FollowedChange[] {
  const end = 4 + bytes.readUInt32BE(0);
  const head = JSON.parse(bytes.toString('utf8', 4, end)) as readonly (readonly unknown[])[];
  let at = end;
  const changes = head.map((values): FollowedChange => {
    const [size, form] = values.slice(members.length) as [number, BodyForm];
    const from = at;
    at += size;
    if (at > bytes.length) throw new Error('it is cut off');
    const body: StoredBody | null =
      form === 0 ? null : form === 1 ? bytes.subarray(from, at) : bytes.toString('utf8', from, at);
    const entries = members.map((member, index) => [member, values[index]]);
    return { ...(Object.fromEntries(entries) as Omit<FollowedChange, 'body'>), body };
  });
  if (at !== bytes.length) throw new Error('it has more bytes than its head says');
  return changes;
}
