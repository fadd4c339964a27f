/**
 * The OpenAPI documents of API servers, read as the caller, and kept for all callers.
 *
 *   index as the caller -> path with the hash of the content -> kept: that copy    else GET as the caller, and the copy is kept
 *
 * Every authenticated user may read these documents (ClusterRole system:discovery), and they are the same for all: so one copy serves all
 * callers. A caller must still be allowed to read the index now, because only the index tells the hash. Without v3 there is one document,
 * and the server is asked with its entity tag each time. A copy belongs to the path of its group version in one cluster. So an API service
 * can replace its own documents only.
 *
 * Owns: the bounds of documents and of what is kept. Never: reads a document as the gateway, parses more of it than where its definitions
 * are, or lets a document hold the thread.
 */
import { BoundedCache } from '../base/bounded-cache.ts';
import { Semaphore } from '../base/concurrency/semaphore.ts';
import { PortolanError } from '../base/errors.ts';
import { textOr } from '../base/json.ts';
import { runSliced } from '../base/steps.ts';
import { definitionTexts } from '../catalog/json-schema/definition-texts.ts';
import { type DocumentPlace, documentPlace, type OpenApiIndex } from '../kube/discovery/openapi.ts';
import { ApiError, apiErrorFromNetwork } from '../kube/http/api-error.ts';
import type { CallerClient } from './caller-clients.ts';

export interface OpenApiDefinitions {
  readonly form: DocumentPlace['form'];
  /** By name, as JSON texts. */
  readonly definitions: ReadonlyMap<string, string>;
}

interface Kept extends OpenApiDefinitions {
  readonly tag: string;
}

/** In bytes. The largest documents of real servers have about 20 MB. */
const mostBytes = 32 * 1024 * 1024;
/** Of all kept documents, in characters. */
const mostKept = 64 * 1024 * 1024;
const mostDocuments = 100;
/** Documents that are read at the same time, by all operations. */
const mostAtOnce = 4;
/** Milliseconds until the headers of an answer, and between two parts of its body. */
const patienceMs = 10_000;
/** Milliseconds for one document, however slowly its parts come. */
const longestMs = 30_000;

export class OpenApiDocuments {
  readonly #kept = new BoundedCache<Kept>({ entries: mostDocuments, weight: mostKept });
  readonly #places = new Semaphore(mostAtOnce);

  /**
   * The definitions of the document with the schemas of this group version; null if the server has none.
   * @param index the server's, which the caller has just read (`openApiIndex`)
   * @throws PortolanError FORBIDDEN or UNAUTHENTICATED if the caller may not read it, UPSTREAM_UNAVAILABLE without an answer, and for a
   * document that is too large or none.
   */
  async of(
    client: CallerClient,
    index: OpenApiIndex,
    groupVersion: string,
    signal: AbortSignal | undefined,
  ): Promise<OpenApiDefinitions | null> {
    const place = documentPlace(client, index, groupVersion);
    if (place === null) return null;
    const key = JSON.stringify([client.connection.cluster, client.connection.server, place.path]);
    const kept = this.#kept.get(key);
    if (kept !== undefined && place.hash !== null) return kept;
    const ends = AbortSignal.any([AbortSignal.timeout(longestMs), ...(signal === undefined ? [] : [signal])]);
    try {
      const leave = await this.#places.enter(ends, key);
      try {
        return await this.#read(client, place, key, ends);
      } finally {
        leave();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (!ends.aborted) throw error;
      throw new PortolanError(
        'UPSTREAM_UNAVAILABLE',
        `The OpenAPI document of ${groupVersion} did not come within ${longestMs / 1000} seconds: look at the API service of its group.`,
        { cause: error },
      );
    }
  }

  async #read(client: CallerClient, place: DocumentPlace, key: string, signal: AbortSignal): Promise<Kept> {
    // Another operation may have read it meanwhile.
    const kept = this.#kept.get(key);
    if (kept !== undefined && place.hash !== null) return kept;
    const answer = await client.stream(
      place.path,
      {},
      {
        signal,
        headersTimeoutMs: patienceMs,
        bodyTimeoutMs: patienceMs,
        ...(kept === undefined || kept.tag === '' ? {} : { headers: { 'if-none-match': kept.tag } }),
      },
    );
    const text = await wholeText(answer.body, `GET ${place.path}`, signal);
    if (answer.status === 304 && kept !== undefined) return kept;
    const definitions = await runSliced(definitionTexts(text), { signal });
    const made = { form: place.form, definitions, tag: textOr(answer.headers['etag']) };
    if (place.hash !== null || made.tag !== '') this.#kept.set(key, made, text.length);
    return made;
  }
}

async function wholeText(body: AsyncIterable<Buffer>, what: string, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > mostBytes) throw tooLarge(what);
      chunks.push(chunk);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof PortolanError ? error : apiErrorFromNetwork(error, what);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(what: string): ApiError {
  return new ApiError({
    code: 'UPSTREAM_UNAVAILABLE',
    httpStatus: 200,
    reason: 'BodyTooLarge',
    message: `${what} was answered with more than ${mostBytes} bytes, so it is not read: look at the API service of its group.`,
  });
}
