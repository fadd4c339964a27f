/**
 * The manifests of the documents of a mutation.
 *
 *   json   a value of the request           -> copied here
 *   yaml   the first 8 KiB of an operation  -> read here
 *          longer                           -> a thread reads all texts of the field -> their JSON is parsed here
 *
 * The serve thread does its part in slices. The YAML parser needs about 10 ms for the densest 8 KiB, and seconds for 1 MiB.
 *
 * Owns: the budget of an operation: what its fields hand in counts together, also a variable that several of them use.
 * Never: reads a long text on the serve thread.
 */
import { runSliced, type Steps } from '../../base/steps.ts';
import { parseExact } from '../../catalog/values/values.ts';
import type { Operation } from '../../operation/operation.ts';
import type { WriteAccess } from '../../operation/write-access.ts';
import { ManifestBudget, manifestBounds } from '../manifests/manifest-bounds.ts';
import { type Manifest, manifestsOfJson, manifestsOfYaml, readAt } from '../manifests/read-manifests.ts';

type PlaceOf = (index: number) => string;

/** Bytes of YAML of an operation that the serve thread reads. */
const shortBytes = 8 * 1024;

/** Exactly one of both. */
interface Document {
  readonly json: unknown;
  readonly yaml: string | null;
}

/**
 * The manifests of each document.
 * @param placeOf the document in messages
 * @throws PortolanError BAD_USER_INPUT with the place of the document, and as WriteAccess.longManifests
 */
export async function documentManifests(
  operation: Operation,
  { longManifests }: Pick<WriteAccess, 'longManifests'>,
  documents: readonly Document[],
  placeOf: PlaceOf = (index) => `docs[${index}]`,
): Promise<readonly (readonly Manifest[])[]> {
  const { signal, caller } = operation;
  const budget = operation.sharedByRepeats('manifests', () => new ManifestBudget(manifestBounds));
  const texts = documents.flatMap(({ yaml }, index) => (yaml === null ? [] : [{ place: placeOf(index), text: yaml }]));
  const isShort = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), budget.bytes) <= shortBytes;
  const slices = signal === undefined ? {} : { signal };
  if (isShort) return runSliced(manifestsOf(documents, budget, null, placeOf), slices);
  for (const { place, text } of texts) readAt(place, () => budget.text(text));
  const read = await longManifests.read(texts, caller.name, signal);
  return runSliced(manifestsOf(documents, budget, read, placeOf), slices);
}

/** @param read the manifests of each YAML text as JSON; null if the texts are to be read here */
function* manifestsOf(
  documents: readonly Document[],
  budget: ManifestBudget,
  read: readonly (readonly string[])[] | null,
  placeOf: PlaceOf,
): Steps<readonly (readonly Manifest[])[]> {
  const all: (readonly Manifest[])[] = [];
  const texts = read?.values();
  for (const [index, { json, yaml }] of documents.entries()) {
    const made: Manifest[] = [];
    if (yaml === null) made.push(...readAt(placeOf(index), () => manifestsOfJson(json, budget)));
    else if (texts === undefined) made.push(...readAt(placeOf(index), () => manifestsOfYaml(yaml, budget)));
    else {
      for (const text of texts.next().value ?? []) {
        made.push(parseExact(text) as Manifest);
        yield;
      }
    }
    all.push(made);
    yield;
  }
  return all;
}
