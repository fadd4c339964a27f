/**
 * The parse thread: slices the bytes of list pages into objects and makes them ready for the store. Says and hears what is in
 * parse-messages.ts. It keeps one item of each page that is being read, and between pages what it prepares them by.
 */
import { constants, setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { codeOf, messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { Preparer } from '../../store/objects/prepare.ts';
import type { Recipe } from '../../store/types/prepared-object.ts';
import { ListSlicer } from '../bytes/list-slicer.ts';
import { packObjects } from '../bytes/packed-objects.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import type { ParseAnswer, ParseRequest } from './parse-messages.ts';

interface Page {
  readonly slicer: ListSlicer;
  readonly preparer: Preparer;
}

giveWay();

const port = must(parentPort, 'a parent thread');
const pages = new Map<number, Page>();
/** By recipe, which the pages of a list have in common: making one costs as much as preparing some objects. As many as lists may run at a time. */
const preparers = new BoundedCache<Preparer>({ entries: 8, weight: 8 });
const post = (answer: ParseAnswer, transfer: ArrayBuffer[] = []): void => port.postMessage(answer, transfer);

port.on('message', (request: ParseRequest) => {
  if (request.type === 'begin') {
    const { page, recipe, maxItemBytes } = request;
    pages.set(page, { slicer: new ListSlicer(maxItemBytes), preparer: preparerOf(recipe) });
    return;
  }
  const { page: number, type } = request;
  const page = pages.get(number);
  if (page === undefined) return;
  try {
    if (type === 'chunk') prepare(number, page, request.bytes);
    else if (type === 'end') post({ type: 'head', page: number, head: page.slicer.end() });
    if (type !== 'chunk') pages.delete(number);
  } catch (error) {
    pages.delete(number);
    const invalid = codeOf(error) === 'INVALID' ? 'invalid object' : null;
    const reason = error instanceof ProtocolError ? error.reason : invalid;
    post({ type: 'failed', page: number, reason, message: messageOf(error) });
  }
});

post({ type: 'ready' });

function prepare(number: number, { slicer, preparer }: Page, bytes: Uint8Array<ArrayBuffer>): void {
  const items = [...slicer.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))];
  const prepared = preparer.prepare(items);
  const objects = packObjects(items.map((item, index) => prepared[index] ?? { text: item.text }));
  post({ type: 'objects', page: number, chunkBytes: bytes.length, objects }, [objects.bodies.buffer]);
}

function preparerOf(recipe: Recipe): Preparer {
  const key = JSON.stringify(recipe);
  const known = preparers.get(key);
  if (known !== undefined) return known;
  const preparer = new Preparer(recipe);
  preparers.set(key, preparer, 1);
  return preparer;
}

/**
 * Somebody waits for the threads that write and serve; this one is ahead of the writer, and should not keep a processor from them. On
 * Linux a priority is a thread's own (setpriority(2)); elsewhere it would be the whole process's.
 */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  try {
    setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // A sandbox may refuse it: then it runs as the others do.
  }
}
