/**
 * The introspection thread: executes introspection of a whole schema, so that the serve thread does not, and compresses the answers.
 *
 *   kinds        are kept until a generation lacks them
 *   generation   its schema is built from the kinds, as on the serve thread
 *   question     asks for the SDL, or is executed to JSON text (cached for other encodings of the same document), joined with its extensions and encoded;
 *                of a document with data, only the introspection is executed
 *
 * Messages are processed in order, so a question refers to the last generation that was sent before it.
 */
import { parentPort } from 'node:worker_threads';
import { brotliCompressSync, constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { type DocumentNode, type ExecutionResult, executeSync, type GraphQLSchema, parse, printSchema } from 'graphql';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { runSteps } from '../../base/steps.ts';
import type { Catalog, CatalogKind } from '../../catalog/resources/catalog.ts';
import { buildGeneration, GenerationBuilder } from '../schema/build-generation.ts';
import type { Encoding, IntrospectionReply, IntrospectionRequest, Made, Question } from './introspection-messages.ts';
import { partResult, rootPart } from './root-parts.ts';

const port = must(parentPort, 'the port of a worker thread');
let builder: GenerationBuilder | null = null;
const kinds = new Map<string, CatalogKind>();
/** Data of answers as JSON, by document, operation and variables; null for one with errors. */
const texts = new BoundedCache<Buffer | null>({ entries: 16, weight: 128 * 1024 * 1024 });
/** Schemas of some of the kinds, by the keys of these. Each is small. */
const parts = new BoundedCache<GraphQLSchema>({ entries: 8, weight: 8 });
let catalog: Catalog = { typePrefix: '', kinds: [], diagnostics: [], hash: '' };
let whole: GraphQLSchema | null = null;

port.on('message', (request: IntrospectionRequest) => {
  switch (request.op) {
    case 'kinds':
      for (const text of request.texts) {
        const kind = JSON.parse(text) as CatalogKind;
        kinds.set(kind.key, kind);
      }
      return;
    case 'generation':
      return load(request);
    case 'question':
      return reply(request.call, request.question);
  }
});

function load({ keys, typePrefix }: Extract<IntrospectionRequest, { op: 'generation' }>): void {
  const wanted = new Set(keys);
  for (const key of kinds.keys()) if (!wanted.has(key)) kinds.delete(key);
  const ordered = keys.map((key) => must(kinds.get(key), `the kind ${key} was sent`));
  texts.clear();
  parts.clear();
  catalog = { typePrefix, kinds: ordered, diagnostics: [], hash: '' };
  builder ??= new GenerationBuilder({ typePrefix });
  whole = runSteps(builder.build(catalog)).schema;
}

/** The schema of the generation, or one of some of its kinds: without the others, and without the relations to them. */
function schemaOf(keys: Question['kinds']): GraphQLSchema {
  if (keys === null) return must(whole, 'a generation was sent');
  const name = keys.join(' ');
  const known = parts.get(name);
  if (known !== undefined) return known;
  const wanted = new Set(keys);
  const some = { ...catalog, kinds: catalog.kinds.filter(({ key }) => wanted.has(key)) };
  const { schema } = buildGeneration(some);
  parts.set(name, schema, 1);
  return schema;
}

function reply(call: number, question: Question): void {
  try {
    const answer = answerTo(question);
    port.postMessage({ call, answer } satisfies IntrospectionReply, answer === null ? [] : [answer.bytes.buffer]);
  } catch (error) {
    port.postMessage({ call, failed: messageOf(error) } satisfies IntrospectionReply);
  }
}

function answerTo(question: Question): Made | null {
  const { document, extensions } = question;
  if (document === null) return sdl(question);
  return extensions === null ? part(document, question) : answer(document, extensions, question);
}

function sdl({ kinds, encoding }: Question): Made {
  const text = Buffer.from(`${printSchema(schemaOf(kinds))}\n`);
  return { bytes: encode(encoding, text), length: text.length };
}

function answer(document: string, extensions: string, question: Question): Made | null {
  const data = textOf(document, question);
  if (data === null) return null;
  const text = Buffer.concat([Buffer.from('{"data":'), data, Buffer.from(`,"extensions":${extensions}}`)]);
  return { bytes: encode(question.encoding, text), length: text.length };
}

/** The result of the introspection in the document. */
function part(document: string, question: Question): Made {
  const parsed = rootPart(parse(document), question.operationName, 'introspection');
  const text = Buffer.from(JSON.stringify(partResult(execute(parsed, question))));
  return { bytes: alone(text), length: text.length };
}

function textOf(document: string, question: Question): Buffer | null {
  const { operationName, variables, kinds } = question;
  const key = JSON.stringify([document, operationName, variables, kinds]);
  const known = texts.get(key);
  if (known !== undefined) return known;
  const { data, errors } = execute(parse(document), question);
  const text = errors === undefined ? Buffer.from(JSON.stringify(data)) : null;
  texts.set(key, text, text?.length ?? 0);
  return text;
}

function execute(document: DocumentNode, { kinds, operationName, variables }: Question): ExecutionResult {
  return executeSync({ schema: schemaOf(kinds), document, operationName, variableValues: variables });
}

/** The qualities suit tens of megabytes. The next higher ones take several times as long and save a tenth. */
function encode(encoding: Encoding, text: Buffer): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case 'br':
      return alone(brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }));
    case 'zstd':
      return alone(zstdCompressSync(text, { params: { [constants.ZSTD_c_compressionLevel]: 6 } }));
    case 'gzip':
      return alone(gzipSync(text));
    case 'identity':
      return alone(text);
  }
}

/** A copy in a buffer of its own, so that the buffer can be transferred to another thread. */
function alone(bytes: Buffer): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
