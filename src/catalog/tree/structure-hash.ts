/**
 * Structural hashes. Two shapes have equal hashes if their fields, types and nested shapes are equal. Names, descriptions and
 * locations do not count.
 */
import { hash } from 'node:crypto';
import { must } from '../../base/must.ts';
import { type FieldTree, type FieldType, leafText, type Shape, shapeOf } from './field-tree.ts';
import { objectIn } from './normalize-tree.ts';

/** 32 hexadecimal digits of SHA-256. */
export function hashText(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 32);
}

/**
 * The hash of every shape by its key. A shape's hash includes the hashes of the shapes below it.
 *
 * Shapes that contain each other form one strongly connected component (Tarjan's algorithm). A component is hashed in one
 * round more than it has shapes, so that structural differences reach every member.
 */
export function structureHashes(tree: FieldTree): Map<string, string> {
  const hashes = new Map<string, string>();
  /** The index of a shape's first visit, and the lowest index reachable from it. */
  const seen = new Map<string, { readonly index: number; low: number }>();
  const waiting: string[] = [];
  for (const key of Object.keys(tree.shapes)) if (!seen.has(key)) visit(key);
  return hashes;

  function visit(key: string): { low: number } {
    const own = { index: seen.size, low: seen.size };
    seen.set(key, own);
    waiting.push(key);
    let recursive = false;
    for (const { type } of shapeOf(tree, key).fields) {
      const below = objectIn(type);
      if (below === null || hashes.has(below)) continue;
      recursive ||= below === key;
      const before = seen.get(below);
      own.low = Math.min(own.low, before === undefined ? visit(below).low : before.index);
    }
    if (own.low === own.index) close(waiting.splice(waiting.indexOf(key)), recursive);
    return own;
  }

  /** Hashes one component; all shapes below it are hashed already. */
  function close(members: readonly string[], recursive: boolean): void {
    let current = new Map(members.map((key) => [key, 'itself']));
    const rounds = members.length > 1 || recursive ? members.length + 1 : 1;
    for (let round = 0; round < rounds; round++) {
      const before = current;
      const hashOf = (key: string): string => before.get(key) ?? must(hashes.get(key), `shape ${key} is hashed`);
      current = new Map(members.map((key) => [key, hashText(signatureOf(shapeOf(tree, key), hashOf))]));
    }
    for (const [key, hash] of current) hashes.set(key, hash);
  }
}

/** The hash of a whole tree: a kind's shape hash. */
export function structureHash(tree: FieldTree): string {
  return must(structureHashes(tree).get(tree.root), 'a tree has its root');
}

function signatureOf(shape: Shape, hashOf: (key: string) => string): string {
  const fields = shape.fields.map(({ name, type }) => `${JSON.stringify(name)}:${typeSignature(type, hashOf)}`);
  return `${shape.open === true ? '+' : ''}${fields.join()}`;
}

function typeSignature(type: FieldType, hashOf: (key: string) => string): string {
  switch (type.kind) {
    case 'leaf':
      return leafText(type);
    case 'stringMap':
      return '{}';
    case 'map':
      return `{${typeSignature(type.of, hashOf)}}`;
    case 'list':
      return `[${typeSignature(type.of, hashOf)}]`;
    case 'object':
      return hashOf(type.shape);
  }
}
