/**
 * The parse thread: slices the bytes of list pages into objects and prepares them for the store. parse-messages.ts defines
 * its messages. It keeps one item of each open page, and keeps the recipes between pages.
 */
import { parentPort } from 'node:worker_threads';
import { BoundedCache } from '../../base/bounded-cache.ts';
import { lowerPriority } from '../../base/concurrency/lower-priority.ts';
import { messageOf } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { Preparer } from '../../store/objects/prepare.ts';
import type { Recipe } from '../../store/types/prepared-object.ts';
import { ListSlicer } from '../bytes/list-slicer.ts';
import { packObjects } from '../bytes/packed-objects.ts';
import { ProtocolError } from '../bytes/protocol-error.ts';
import { storeError } from '../flow/failure.ts';
import type { ParseAnswer, ParseRequest } from './parse-messages.ts';

interface Page {
  readonly slicer: ListSlicer;
  readonly preparer: Preparer;
}

// It runs ahead of the writer, and should not take a processor from the threads that write and serve.
lowerPriority();

const port = must(parentPort, 'a parent thread');
const pages = new Map<number, Page>();
/**
 * Prepared recipes, shared by the pages of a list: one costs as much as preparing some objects. At most as many as lists
 * run at a time.
 */
const preparers = new BoundedCache<Preparer>({ entries: 8, weight: 8 });
const post = (answer: ParseAnswer, transfer: ArrayBuffer[] = []): void => port.postMessage(answer, transfer);

port.on('message', (request: ParseRequest) => {
  if (request.type === 'close') {
    port.close();
    return;
  }
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
    const known = error instanceof ProtocolError ? error : storeError(error);
    const reason = known instanceof ProtocolError ? known.reason : null;
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
