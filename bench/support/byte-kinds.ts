/** Kinds of JSON text that are different work for a loop over bytes. */
import { withoutManagedFields } from '../../src/ingest/bytes/managed-fields.ts';
import { podItem } from './pods.ts';

export interface ByteKind {
  readonly name: string;
  /** Each is one JSON value. */
  readonly texts: readonly Buffer[];
}

const range = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));
const textOf = (value: unknown, indent?: number): Buffer => Buffer.from(JSON.stringify(value, null, indent));
const pod = (index: number): Buffer => withoutManagedFields(Buffer.from(podItem(index, 'Running', 1_000_000 + index)));

const indentedPod = (index: number): Buffer => textOf(JSON.parse(pod(index).toString('utf8')), 2);

/** Names and values with characters of one to four bytes. */
const unicode = (index: number): unknown =>
  range(40, (at) => ({
    größe: `Zürich ${index} – наблюдение ${at}`,
    名前: `東京都港区 ${'😀'.repeat(at % 7)}`,
    état: 'prêt',
  }));

const numbers = (index: number): unknown =>
  range(200, (at) => [index * at, -at, at / 7, 1e21 * (at + 1), 0, 1_700_000_000_000 + index]);

/** Escapes: a manifest in a string, as kubectl keeps it in an annotation, that string in another one, and others. */
function escapes(index: number): unknown {
  const manifest = JSON.stringify({ kind: 'ConfigMap', data: { 'run.sh': `#!/bin/sh\n\techo "${index}"\nexit 0\n` } });
  return range(20, (at) => ({
    applied: `${manifest}\n`,
    twice: JSON.stringify(manifest),
    path: `C:\\${at}\\"x"\u0001`,
  }));
}

const tiny = (index: number): unknown => ({ a: index, b: [true, null], c: 'd' });

/** At least `bytes` bytes of Pods, inside `depth` arrays and objects. */
function nestedPods(depth: number, bytes: number): Buffer {
  const item = pod(1).toString('utf8');
  const items = Array<string>(Math.ceil(bytes / item.length)).fill(item);
  return Buffer.from(`${'{"items":['.repeat(depth / 2)}${items.join(',')}${']}'.repeat(depth / 2)}`);
}

export const byteKinds: readonly ByteKind[] = [
  { name: 'pods', texts: range(300, pod) },
  { name: 'indented', texts: range(200, indentedPod) },
  { name: 'unicode', texts: range(300, (index) => textOf(unicode(index))) },
  { name: 'numbers', texts: range(100, (index) => textOf(numbers(index))) },
  { name: 'escapes', texts: range(100, (index) => textOf(escapes(index))) },
  { name: 'tiny', texts: range(5000, (index) => textOf(tiny(index))) },
  { name: 'deep', texts: [nestedPods(40, 1024 * 1024)] },
];
