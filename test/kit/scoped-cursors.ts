/** Cursors that a caller who sees everything takes from the lists of scoped-world.ts. */
import type { AnswerPair } from './answer-pair.ts';
import { type KnownCursor, listFields } from './scoped-documents.ts';

const orders = [
  '',
  'orderBy: [{ path: "metadata.name" }]',
  'orderBy: [{ path: "metadata.creationTimestamp", direction: DESC }]',
];
const ofWidgets = ['orderBy: [{ path: "spec.total" }]', 'orderBy: [{ path: "gadget.spec.total", direction: DESC }]'];

export async function cursorsOf({ ask }: Pick<AnswerPair, 'ask'>): Promise<readonly KnownCursor[]> {
  const found: KnownCursor[] = [];
  for (const field of listFields) {
    for (const order of field === 'exampleComWidgets' ? [...orders, ...ofWidgets] : orders) {
      const args = order === '' ? '' : `(${order})`;
      const [{ text }] = await ask(JSON.stringify({ query: `{ r: ${field}${args} { edges { cursor } } }` }));
      const { edges } = JSON.parse(text).data.r as { readonly edges: readonly { readonly cursor: string }[] };
      found.push(...edges.map(({ cursor }) => ({ field, order, cursor })));
    }
  }
  return found;
}
