/**
 * Compresses answers as the client accepts it. Every answer with a whole body passes here: Yoga's, prepared ones, and those of the other
 * paths. A stream of events never does, because a compressor would hold its events back.
 *
 * zlib works on Node's thread pool, so an answer of many megabytes does not block the event loop. The levels are cheap: an answer is
 * compressed once and sent once. `npmrunbench--compression` prints their cost and their savings.
 */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, type InputType, zstdCompress } from 'node:zlib';
import { type ContentCoding, contentCoding } from './accept-encoding.ts';

type Coding = Exclude<ContentCoding, 'identity'>;

/** Smaller answers fit into a few packets anyway, and are sent as they are. */
export const leastBytes = 4096;

/** Codings with equal weights are preferred in this order: zstd is the cheapest and nearly as small as Brotli. */
const offered: readonly Coding[] = ['zstd', 'br', 'gzip'];

/** An answer depends on its coding. Every answer also depends on the rights of its Origin (cross-origin.ts). */
export const variesByCoding = 'Origin, Accept-Encoding';

/**
 * Windows of 256 kB. The default ones take megabytes of fresh memory for every answer, which costs more time than compressing it. Objects
 * of one kind are alike, so a larger window finds hardly more.
 */
const windowBits = 18;
const zstdParams = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: windowBits };
const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: windowBits };

const [zstd, brotli, gzipped] = [promisify(zstdCompress), promisify(brotliCompress), promisify(gzip)];

const compressors: Readonly<Record<Coding, (body: InputType) => Promise<Buffer>>> = {
  zstd: (body) => zstd(body, { params: zstdParams }),
  br: (body) => brotli(body, { params: brotliParams }),
  gzip: (body) => gzipped(body, { level: 1 }),
};

/** May an answer of this content type be compressed? All types of text but streams. */
export function isCompressible(type: string): boolean {
  return /^(application\/(graphql-response\+)?json|text\/(html|plain))\b/.test(type);
}

/** A body, and the headers that describe it. */
export interface CodedBody {
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

/** The coding of an answer of this many bytes. Null for an answer that is too small for any. */
export function codingOf(byteLength: number, acceptEncoding: string | null | undefined): ContentCoding | null {
  return byteLength < leastBytes ? null : contentCoding(acceptEncoding ?? null, offered);
}

/** A body in this coding, which `codingOf` has chosen. */
export function codedBody(body: string | Uint8Array, byteLength: number, coding: ContentCoding | null): CodedBody {
  return {
    body,
    headers: {
      'content-length': String(byteLength),
      ...(coding === null || coding === 'identity' ? {} : { 'content-encoding': coding }),
      ...(coding === null ? {} : { vary: variesByCoding }),
    },
  };
}

/**
 * Compresses a body if it is large enough and the client accepts a coding; `byteLength` is its length in UTF-8. Without a promise, the
 * body is the given one.
 */
export function encodeBody(
  body: string | Uint8Array,
  byteLength: number,
  acceptEncoding: string | null | undefined,
): CodedBody | Promise<CodedBody> {
  const coding = codingOf(byteLength, acceptEncoding);
  if (coding === null || coding === 'identity') return codedBody(body, byteLength, coding);
  return compressors[coding](body).then((coded) => codedBody(coded, coded.length, coding));
}
