/** Metadata as a field tree of its own: what ObjectMetaFilter is made from, the same for every kind. */
import type { FieldTree } from '../../catalog/tree/field-tree.ts';
import { objectMetaKey, sharedShapes } from '../../catalog/tree/shared-shapes.ts';

export const metadataTree: FieldTree = { root: objectMetaKey, shapes: Object.fromEntries(sharedShapes) };
