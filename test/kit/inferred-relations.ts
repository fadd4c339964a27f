/** Schemas in short, the kinds that a cluster serves, and the relations that are inferred from them, as lines. */
import { type InferredRelations, inferRelations } from '../../src/catalog/describe/infer-relations.ts';
import type { ServedKind } from '../../src/catalog/describe/kind-by-name.ts';
import { type ReferencePlace, type Relation, textOfKind } from '../../src/catalog/relations/relation.ts';
import type { FieldTree } from '../../src/catalog/tree/field-tree.ts';
import { normalizeTree } from '../../src/catalog/tree/normalize-tree.ts';
import { SchemaWalker } from '../../src/catalog/tree/walk-schema.ts';

/** A schema in short: a text is a string with that description, a list has elements, an object has fields. */
export type Short = string | boolean | readonly [Short] | { readonly [field: string]: Short };

export function schemaOf(short: Short): object {
  if (typeof short === 'string') return { type: 'string', description: short };
  if (typeof short === 'boolean') return { type: 'boolean' };
  if (Array.isArray(short)) return { type: 'array', items: schemaOf(short[0] as Short) };
  const { '#': description, ...fields } = short as { readonly [field: string]: Short };
  const properties = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, schemaOf(value)]));
  return { type: 'object', properties, ...(description === undefined ? {} : { description }) };
}

export function treeOf(root: Short): FieldTree {
  const walker = new SchemaWalker();
  return normalizeTree(walker.root(schemaOf(root)), walker.drafts);
}

export const served = (text: string, namespaced = true): ServedKind => {
  const dot = text.indexOf('.');
  const kind = text.slice(0, dot);
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie')}s`;
  return { group: text.slice(dot + 1), kind, plural, namespaced };
};

export const kinds: readonly ServedKind[] = [
  served('Foo.a.example.io'),
  served('Cluster.a.example.io'),
  served('Policy.a.example.io'),
  served('Service.a.example.io'),
  served('Zone.a.example.io', false),
  served('Issuer.example.io'),
  served('Disk.b.c.example.io'),
  served('Account.d.c.example.io'),
];

export const source = { group: 'a.example.io', kind: 'Foo', namespaced: true };
export const elsewhere = { ...source, group: 'a.c.example.io' };
export const clusterScoped = { ...source, namespaced: false };

export function infer(spec: Short, from = source): InferredRelations {
  return inferRelations(from, treeOf({ spec }), kinds);
}

export function placeOf({ means }: Relation): ReferencePlace {
  const place = means.by === 'reference' ? means.places[0] : undefined;
  if (place === undefined) throw new Error('every inferred relation has a place');
  return place;
}

/** `tlsSecrets* spec.tls[].secretName -> Secret`; a star for many; `{name @ namespace}` below the place. */
export function lineOf(relation: Relation): string {
  const { at, name, namespace, target } = placeOf(relation);
  const stated = namespace === null ? '' : ` @ ${'constant' in namespace ? namespace.constant : namespace.text}`;
  const below = name === null ? '' : `{${name.text}${stated}}`;
  const to =
    'kindAt' in target
      ? `any by ${target.groupAt?.path.text ?? 'kind'}${target.fallback === null ? '' : `, else ${textOfKind(target.fallback)}`}`
      : textOfKind(target);
  return `${relation.name}${relation.many ? '*' : ''} ${at.text}${below} -> ${to}`;
}

export const linesOf = ({ relations }: InferredRelations): readonly string[] => relations.map(lineOf);

export const name = 'the name';
export const key = 'the key';
export const kind = 'the kind';
export const namespace = 'the namespace';
export const optional = true;
