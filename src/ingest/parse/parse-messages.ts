/** What ingest and its parse thread say to each other. Pages are known by a number; each is answered in the order of its chunks. */
import type { Recipe } from '../../store/types/prepared-object.ts';
import type { ListHead } from '../bytes/list-slicer.ts';
import type { PackedObjects } from '../bytes/packed-objects.ts';

export type ParseRequest =
  | { readonly type: 'begin'; readonly page: number; readonly recipe: Recipe; readonly maxItemBytes: number }
  | { readonly type: 'chunk'; readonly page: number; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The body has ended. */
  | { readonly type: 'end'; readonly page: number }
  /** Nobody wants the rest of it. */
  | { readonly type: 'leave'; readonly page: number };

export type ParseAnswer =
  /** It takes pages; said once. */
  | { readonly type: 'ready' }
  /** All that the chunk completed. */
  | {
      readonly type: 'objects';
      readonly page: number;
      readonly chunkBytes: number;
      readonly objects: PackedObjects;
    }
  | { readonly type: 'head'; readonly page: number; readonly head: ListHead }
  /** `reason`: of a ProtocolError; null for a defect. */
  | { readonly type: 'failed'; readonly page: number; readonly reason: string | null; readonly message: string };
