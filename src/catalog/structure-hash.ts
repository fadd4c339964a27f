/**
 * Hashes of structure: equal for shapes whose fields, types and nested shapes are equal, whatever they are called and described as.
 */
import { createHash } from 'node:crypto';
import { must } from '../base/must.ts';
import type { FieldTree, FieldType } from './field-tree.ts';

/** 32 hexadecimal digits of SHA-256. */
export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** The hash of every shape by its key. A shape that contains itself is hashed with the way back counted in levels. */
export function structureHashes(tree: FieldTree): Map<string, string> {
  const done = new Map<string, string>();
  const above: string[] = [];
  for (const key of Object.keys(tree.shapes)) visit(key);
  return done;

  /** The highest level that was reached back to; a hash holds wherever it is met only if that is not above the shape. */
  function visit(key: string): { hash: string; reach: number } {
    const known = done.get(key);
    if (known !== undefined) return { hash: known, reach: above.length };
    const level = above.indexOf(key);
    if (level !== -1) return { hash: `^${above.length - level}`, reach: level };
    const own = above.length;
    above.push(key);
    const shape = must(tree.shapes[key], `shape ${key} is in its tree`);
    let reach = own;
    let text = shape.open === true ? '+' : '';
    for (const field of shape.fields) text += `${JSON.stringify(field.name)}:${signature(field.type)},`;
    above.pop();
    const hash = hashText(text);
    if (reach >= own) done.set(key, hash);
    return { hash, reach };

    function signature(type: FieldType): string {
      switch (type.kind) {
        case 'leaf':
          return type.type;
        case 'stringMap':
          return '{}';
        case 'map':
          return `{${signature(type.of)}}`;
        case 'list':
          return `[${signature(type.of)}]`;
        case 'object': {
          const below = visit(type.shape);
          reach = Math.min(reach, below.reach);
          return below.hash;
        }
      }
    }
  }
}

/** The hash of a whole tree: what a kind's shape hash is. */
export function structureHash(tree: FieldTree): string {
  return must(structureHashes(tree).get(tree.root), 'a tree has its root');
}

/** Names of nested filter inputs by shape key: outside the contract, the same wherever the structure is. */
export function inputNames(tree: FieldTree): Map<string, string> {
  return new Map([...structureHashes(tree)].map(([key, hash]) => [key, `F_${hash.slice(0, 12)}`]));
}
