/** `npm run fuzz -- documents`: the endpoint against random documents and variables, right ones and broken ones. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { messageOf } from '../../src/base/errors.ts';
import { medias, wrongWith } from './check-answer.ts';
import { Dice } from './dice.ts';
import { type DocumentWorld, openDocumentWorld } from './document-world.ts';
import type { FuzzOptions, FuzzOutcome } from './fuzz.ts';
import { randomDocument } from './random-document.ts';

export const about =
  'The endpoint answers random documents and variables, or refuses them with a code; it never fails.';
export const defaultCases = 50_000;

/** Requests under way at once. */
const atOnce = 4;
/** What may stay on the heap beyond what a thousand cases left: caches have their sizes by then. */
const mostGrowth = 64 * 1024 * 1024;
const heapEvery = 1000;

export async function fuzz({ from, cases, seed, progress }: FuzzOptions): Promise<FuzzOutcome> {
  const world = await openDocumentWorld(seed);
  const failures: { readonly number: number; readonly what: string }[] = [];
  const codes = new Map<string, number>();
  let settled: number | null = null;
  let heap = usedHeap();
  let asked = 0;
  try {
    for (let start = from; start < from + cases; start += atOnce) {
      const numbers = Array.from({ length: Math.min(atOnce, from + cases - start) }, (_, index) => start + index);
      const defects = world.defects.length;
      const wrong = await Promise.all(numbers.map((number) => play(world, new Dice(seed, number), codes)));
      for (const [index, what] of wrong.entries()) {
        const logged = world.defects.slice(defects).join('\n');
        if (what !== null) failures.push({ number: numbers[index] ?? start, what: `${what}\n${logged}` });
      }
      asked += numbers.length;
      progress(asked, failures.length);
      if (asked % heapEvery < atOnce) {
        heap = usedHeap();
        settled ??= heap;
        if (heap > settled + mostGrowth) {
          failures.push({ number: start, what: `the heap grew from ${megabytes(settled)} to ${megabytes(heap)}` });
          break;
        }
      }
    }
    const told = [...codes].sort(([, a], [, b]) => b - a).map(([code, count]) => `${code} ${count}`);
    return { asked, failures, about: `a heap of ${megabytes(heap)} (${told.join(', ')})` };
  } finally {
    await world.close();
  }
}

/** What is wrong with the answer to one random request, or null. */
async function play(world: DocumentWorld, dice: Dice, codes: Map<string, number>): Promise<string | null> {
  const { schema } = world.engine.source.generation();
  const document = randomDocument(schema, world.known, dice);
  const media = dice.pick(medias);
  try {
    const response = await world.yoga.fetch('http://127.0.0.1/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: media },
      body: JSON.stringify(document),
    });
    const text = await response.text();
    const problem = wrongWith(
      media,
      document.query.startsWith('subscription'),
      response.status,
      response.headers.get('content-type'),
      text,
    );
    for (const code of new Set(problem === null ? codesIn(text) : [])) codes.set(code, (codes.get(code) ?? 0) + 1);
    return problem === null
      ? null
      : `${problem}\n${response.status} ${text.slice(0, 1000)}\n${JSON.stringify(document)}`;
  } catch (error) {
    return `no answer: ${messageOf(error)}\n${JSON.stringify(document)}`;
  }
}

/** OK for an answer without errors. */
function codesIn(text: string): string[] {
  if (text === '') return ['not acceptable'];
  const { errors = [] } = JSON.parse(text) as { errors?: readonly { extensions: { code: string } }[] };
  return errors.length === 0 ? ['OK'] : errors.map(({ extensions }) => extensions.code);
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function usedHeap(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MB`;
}
