/** The messages between ingest and its parse thread. A number identifies each page; replies come in the order of its chunks. */
import type { Recipe } from '../../store/types/prepared-object.ts';
import type { ListHead } from '../bytes/list-slicer.ts';
import type { PackedObjects } from '../bytes/packed-objects.ts';

export type ParseRequest =
  | { readonly type: 'begin'; readonly page: number; readonly recipe: Recipe; readonly maxItemBytes: number }
  | { readonly type: 'chunk'; readonly page: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The body has ended. */
  | { readonly type: 'end'; readonly page: number }
  /** The rest of the page is not needed. */
  | { readonly type: 'leave'; readonly page: number }
  /** The thread ends itself. */
  | { readonly type: 'close' };

export type ParseAnswer =
  /** The thread accepts pages; sent once. */
  | { readonly type: 'ready' }
  /** Every object that the chunk completed. */
  | {
      readonly type: 'objects';
      readonly page: number;
      readonly chunkBytes: number;
      readonly objects: PackedObjects;
    }
  | { readonly type: 'head'; readonly page: number; readonly head: ListHead }
  /** `reason`: of a ProtocolError; null for a defect. */
  | { readonly type: 'failed'; readonly page: number; readonly reason: string | null; readonly message: string };
