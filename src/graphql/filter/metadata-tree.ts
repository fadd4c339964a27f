/** The field tree of ObjectMeta. ObjectMetaFilter is built from it, and all kinds share it. */
import type { FieldTree } from '../../catalog/tree/field-tree.ts';
import { objectMetaKey, sharedShapes } from '../../catalog/tree/shared-shapes.ts';

export const metadataTree: FieldTree = { root: objectMetaKey, shapes: Object.fromEntries(sharedShapes) };
