/**
 * A body that many answers share: of the playground, for instance. A client that does not read its answer holds no memory of its own,
 * because all answers send the same bytes. Each coding is made once, when the first client asks for it, unless it
 * was made before.
 *
 * The bodies are small in number and sent often, so they are compressed better than answers to queries (compression.ts).
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { type ContentCoding, contentCoding } from './accept-encoding.ts';
import { codedBody, leastBytes } from './compression.ts';
import { entityTag, sendNotModified, taggedHeaders } from './entity-tag.ts';

type Coding = 'br' | 'gzip';

/** Brotli is the smallest, and every browser takes it. */
const offered: readonly Coding[] = ['br', 'gzip'];

const [brotli, gzipped] = [promisify(brotliCompress), promisify(gzip)];

const compressors: Readonly<Record<Coding, (body: Buffer) => Promise<Buffer>>> = {
  br: (body) =>
    brotli(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => gzipped(body, { level: 9 }),
};

interface SharedBodyOptions {
  /** The content type. */
  readonly type: string;
  /** May it be compressed? Default: yes. */
  readonly isCompressible?: boolean;
  /** The body in Brotli, if it is known. */
  readonly brotli?: Buffer;
  /** Further headers of the answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

export class SharedBody {
  readonly #body: Buffer;
  readonly #tag: string;
  readonly #options: SharedBodyOptions;
  readonly #coded = new Map<ContentCoding, Promise<Buffer>>();

  constructor(body: string | Buffer, options: SharedBodyOptions) {
    this.#body = Buffer.from(body);
    this.#options = options;
    this.#tag = entityTag(this.#body, options.type);
    if (options.brotli !== undefined) this.#coded.set('br', Promise.resolve(options.brotli));
  }

  /** Answers a GET, or a HEAD: 304 if the client has the body already. */
  async send({ method, headers: asked }: IncomingMessage, response: ServerResponse): Promise<void> {
    const { type, headers } = this.#options;
    if (sendNotModified(this.#tag, asked, response)) return;
    const coding = this.#codingFor(asked['accept-encoding']);
    const body = coding === 'identity' ? this.#body : await this.#in(coding);
    const coded = codedBody(body, body.length, coding);
    response
      .writeHead(200, { 'content-type': type, ...coded.headers, ...taggedHeaders(this.#tag), ...headers })
      .end(method === 'HEAD' ? undefined : body);
  }

  #codingFor(accepted: string | undefined): Coding | 'identity' {
    if (this.#options.isCompressible === false || this.#body.length < leastBytes) return 'identity';
    return contentCoding(accepted ?? null, offered);
  }

  #in(coding: Coding): Promise<Buffer> {
    const known = this.#coded.get(coding);
    if (known !== undefined) return known;
    const made = compressors[coding](this.#body);
    this.#coded.set(coding, made);
    made.catch(() => this.#coded.delete(coding));
    return made;
  }
}
