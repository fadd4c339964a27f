/**
 * Reads the objects that a caller hands in to be written, as kubectl reads a file.
 *
 *   text   -> JSON documents, then YAML documents -> values with places -> Lists give their items -> manifests
 *   value  ->                                         one value          -> Lists give their items -> manifests
 *
 * Owns: what a manifest must have, the items of Lists, and the choice between JSON and YAML.
 * Never: knows kinds, clusters or schemas, or sets a default. The API server checks the object.
 *
 * It refuses two things that kubectl loses in silence: keys that are twice in an object, and documents after a line `...`.
 * Integers keep all digits. kubectl rounds those beyond 64 bits.
 */
import { PortolanError } from '../../base/errors.ts';
import { isRecord } from '../../base/json.ts';
import { jsonCopy } from './json-copy.ts';
import { JsonDocuments, NotJson } from './json-documents.ts';
import { ManifestBudget, manifestBounds } from './manifest-bounds.ts';
import { ManifestText } from './manifest-text.ts';
import { type ReadDocument, yamlDocuments } from './yaml-documents.ts';

/** One object to write. */
export interface Manifest {
  /** The whole object as JSON. Every key is an own property. Integers beyond 2^53 are raw JSON. */
  readonly object: Readonly<Record<string, unknown>>;
  readonly apiVersion: string;
  readonly kind: string;
  /** Null if it is absent or empty. */
  readonly namespace: string | null;
  /** Null if it is absent or empty. Then there is a generateName. */
  readonly name: string | null;
  /** Null if it is absent or empty. */
  readonly generateName: string | null;
  /** The place in the text or value of the caller: `document 2, line 14`, `document 1, line 1, items[3]`, `items[3]`, or `the top level`. */
  readonly place: string;
}

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The objects of a YAML or JSON text, in their order.
 * @param budget counts what is read; default: one for this text alone
 * @throws PortolanError BAD_USER_INPUT with the line, for a text that kubectl would not read, an object that is no manifest, and beyond
 * a bound
 */
export function manifestsOfYaml(text: string, budget = new ManifestBudget(manifestBounds)): readonly Manifest[] {
  budget.text(text);
  const source = new ManifestText(text);
  const manifests: Manifest[] = [];
  let count = 0;
  for (const { value, offset } of documentsOf(source, budget)) {
    count++;
    if (value !== null) collect(value, `document ${count}, line ${source.line(offset)}`, '', budget, manifests);
  }
  return manifests;
}

/**
 * The objects of a JSON value: one, or those of a List.
 * @param budget counts what is read; default: one for this value alone
 * @throws PortolanError BAD_USER_INPUT with the place, for an object that is no manifest, and beyond a bound
 */
export function manifestsOfJson(value: unknown, budget = new ManifestBudget(manifestBounds)): readonly Manifest[] {
  const manifests: Manifest[] = [];
  collect(jsonCopy(value, budget), '', '', budget, manifests);
  return manifests;
}

/**
 * Reads what stands at a place of the request.
 * @throws PortolanError of `read`, with the place before its message
 */
export function readAt<T>(place: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PortolanError)) throw error;
    throw new PortolanError(error.code, `${place}: ${error.message}`, { cause: error, details: error.details });
  }
}

/**
 * A text that begins with `{` is JSON as far as it can be read so, and YAML from there on. As for kubectl, it stays JSON once it has two
 * documents of JSON.
 */
function* documentsOf(source: ManifestText, budget: ManifestBudget): Generator<ReadDocument, void> {
  let from = 0;
  if (source.text.trimStart().startsWith('{')) {
    const json = new JsonDocuments(source, budget);
    for (let count = 0; ; count++) {
      let document: ReadDocument | null;
      try {
        document = json.next();
      } catch (error) {
        if (!(error instanceof NotJson)) throw error;
        if (count < 2) break;
        throw source.error(
          error.offset,
          'The text is not JSON',
          'Correct the JSON there, or separate all documents by lines ---.',
        );
      }
      if (document === null) return;
      yield document;
      from = json.end;
    }
  }
  yield* yamlDocuments(source, from, budget);
}

function collect(value: unknown, document: string, items: string, budget: ManifestBudget, manifests: Manifest[]): void {
  const place = [document, items].filter((part) => part !== '').join(', ') || 'the top level';
  if (!isRecord(value)) throw refused(place, 'is no object; write an object with apiVersion, kind and metadata');
  const { apiVersion, kind } = value;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(value.items)) {
    value.items.forEach((item: unknown, index) => {
      const inside = `${items === '' ? '' : `${items}.`}items[${index}]`;
      collect(itemOf(item, apiVersion, kind), document, inside, budget, manifests);
    });
    return;
  }
  budget.object();
  manifests.push(manifestOf(value, place));
}

/** The item of a list of one kind needs no apiVersion and kind: in a PodList it is a Pod. */
function itemOf(item: unknown, apiVersion: unknown, listKind: string): unknown {
  const kind = listKind.slice(0, -'List'.length);
  if (!isRecord(item) || kind === '' || (item.kind ?? '') !== '' || (item.apiVersion ?? '') !== '') return item;
  return { ...item, apiVersion, kind };
}

function manifestOf(object: JsonObject, place: string): Manifest {
  const metadata = object.metadata ?? {};
  if (!isRecord(metadata)) throw refused(place, 'has metadata that are no object; write metadata with a name');
  const apiVersion = textAt(object, 'apiVersion', 'apiVersion', place);
  const kind = textAt(object, 'kind', 'kind', place);
  if (apiVersion === null) throw refused(place, 'has no apiVersion; add it, such as apiVersion: v1');
  if (kind === null) throw refused(place, 'has no kind; add it, such as kind: ConfigMap');
  const name = textAt(metadata, 'name', 'metadata.name', place);
  const generateName = textAt(metadata, 'generateName', 'metadata.generateName', place);
  const namespace = textAt(metadata, 'namespace', 'metadata.namespace', place);
  if (name === null && generateName === null)
    throw refused(place, 'has no name; add metadata.name or metadata.generateName');
  return { object, apiVersion, kind, namespace, name, generateName, place };
}

/** Null if it is absent, null or empty. */
function textAt(object: JsonObject, key: string, path: string, place: string): string | null {
  const value = Object.hasOwn(object, key) ? object[key] : null;
  if (value === null || value === '') return null;
  if (typeof value === 'string') return value;
  throw refused(place, `has ${path} ${JSON.stringify(value).slice(0, 40)}, which is no text; put it in quotes`);
}

function refused(place: string, problem: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `The manifest at ${place} ${problem}.`, { details: { place } });
}
