/**
 * The parts that the page of the playground loads, from the folder that `npm run playground` writes.
 *
 *   page -> page.js, page.css -> (the gateway accepts the caller) -> graphiql.js, graphiql.css -> (GraphiQL is shown) -> editor.js
 *        -> workers, fonts and prettier when they are used
 *
 * A part is read when a browser first asks for it. Then it is in memory once, however many clients ask for it.
 *
 * Invariant: only files that the manifest names are read.
 */
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { SharedBody } from '../negotiation/shared-body.ts';

/** manifest.json of the folder. */
export interface PlaygroundManifest {
  /** The names of the files. Each one that can be compressed has its Brotli form beside it: `page.js.br`. */
  readonly parts: readonly string[];
}

interface Format {
  readonly type: string;
  readonly isCompressible: boolean;
}

const formats: Readonly<Record<string, Format>> = {
  '.js': { type: 'text/javascript; charset=utf-8', isCompressible: true },
  '.css': { type: 'text/css; charset=utf-8', isCompressible: true },
  '.ttf': { type: 'font/ttf', isCompressible: true },
  '.woff': { type: 'font/woff', isCompressible: false },
  '.woff2': { type: 'font/woff2', isCompressible: false },
};

export class PlaygroundParts {
  readonly #folder: string;
  #names: Promise<ReadonlySet<string>> | null = null;
  readonly #bodies = new Map<string, Promise<SharedBody>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Has `npm run playground` written the folder? */
  async areThere(): Promise<boolean> {
    return (await this.#manifest()).size > 0;
  }

  /** Null if there is no such part. */
  async find(name: string): Promise<SharedBody | null> {
    const format = formats[extname(name)];
    if (format === undefined || !(await this.#manifest()).has(name)) return null;
    const known = this.#bodies.get(name);
    if (known !== undefined) return known;
    const reading = this.#read(name, format);
    this.#bodies.set(name, reading);
    reading.catch(() => this.#bodies.delete(name));
    return reading;
  }

  async #read(name: string, { type, isCompressible }: Format): Promise<SharedBody> {
    const path = join(this.#folder, name);
    const [body, brotli] = await Promise.all([readFile(path), isCompressible ? readFile(`${path}.br`) : null]);
    return new SharedBody(body, { type, isCompressible, ...(brotli === null ? {} : { brotli }) });
  }

  /** Empty without the folder. The next request looks again. */
  #manifest(): Promise<ReadonlySet<string>> {
    this.#names ??= readFile(join(this.#folder, 'manifest.json'), 'utf8').then(
      (text) => new Set((JSON.parse(text) as PlaygroundManifest).parts),
      () => {
        this.#names = null;
        return new Set();
      },
    );
    return this.#names;
  }
}
