/** The relations of a resource as data: where they come from, and how many references they have. */
import { declarationOf } from '../../catalog/relations/declaration-of.ts';
import type { DescribedRelation } from '../../catalog/relations/described-relation.ts';
import { pathOfMention } from '../../catalog/relations/place-text.ts';
import { type RelationOrigin, relationOrigins, textOfKind } from '../../catalog/relations/relation.ts';
import { countReferences, type RelationCounts } from '../../reads/related/reference-source.ts';
import type { Builder } from '../builder/builder.ts';
import type { ResourceSource } from '../builder/resource-source.ts';
import { facts } from '../selection/field-facts.ts';

/** A relation of a resource. */
interface RelationSource {
  readonly resource: ResourceSource;
  readonly relation: DescribedRelation;
}

const origins: Record<RelationOrigin, { description: string }> = {
  CONFIGURED: { description: 'The file of --relations declares it.' },
  SHIPPED: { description: 'Portolan declares it.' },
  ANNOTATION: { description: 'An annotation of the CustomResourceDefinition declares it.' },
  INFERRED: { description: 'It was inferred from the schema of the kind.' },
};

/** The type of a relation of a resource. */
export function resourceRelationType(builder: Builder) {
  const origin = builder.enumType('RelationOrigin', {
    description: 'Where a relation comes from.',
    values: Object.fromEntries(relationOrigins.map((name) => [name, origins[name]])) as typeof origins,
  });
  const way = builder.enumType('RelationWay', {
    description: 'How objects are related.',
    values: {
      REFERENCE: { description: 'By a name in the object.' },
      OWNER: { description: 'By an owner reference.' },
      SELECTOR: { description: 'By a label selector.' },
    } as const,
  });
  return builder.objectRef<RelationSource>('ResourceRelation').implement({
    description: 'A relation that begins at the objects of a resource.',
    fields: (t) => ({
      name: t.string({
        nullable: false,
        description: 'Its field, unless the kind has a field of this name.',
        resolve: ({ relation }) => relation.name,
      }),
      to: t.string({
        description: 'The kind that it leads to, as Kind.group; null: any kind.',
        resolve: ({ relation }) => relation.to,
      }),
      reverse: t.string({
        description: 'The field of the other direction.',
        resolve: ({ relation }) => relation.reverse,
      }),
      many: t.boolean({ nullable: false, resolve: ({ relation }) => relation.many }),
      origin: t.field({ type: origin, nullable: false, resolve: ({ relation }) => relation.origin }),
      way: t.field({
        type: way,
        nullable: false,
        resolve: ({ relation }) =>
          (({ reference: 'REFERENCE', owner: 'OWNER', owns: 'OWNER', selector: 'SELECTOR' }) as const)[relation.way.by],
      }),
      paths: t.field({
        type: ['Path'],
        nullable: { list: false, items: false },
        description: 'Where the names, or the selector, stand in the object.',
        resolve: ({ relation: { way: of } }) =>
          of.by === 'reference' ? of.places.map(pathOfMention) : of.by === 'selector' ? [pathOfMention(of.place)] : [],
      }),
      declaration: t.field({
        type: 'JSON',
        nullable: false,
        description: 'As a file for --relations declares it.',
        resolve: async ({ resource, relation }) =>
          declarationOf(textOfKind((await resource.described()).resource), relation),
      }),
      references: t.int({
        description: 'The number of references; null for owners and selectors.',
        extensions: facts({ cost: { own: 100 } }),
        resolve: async (source) => (await counted(source))?.references ?? null,
      }),
      missing: t.int({
        description: 'The number of references to objects that do not exist; null for owners and selectors.',
        extensions: facts({ cost: { own: 100 } }),
        resolve: async (source) => (await counted(source))?.missing ?? null,
      }),
    }),
  });
}

async function counted({
  resource: { operation, state },
  relation: { way },
}: RelationSource): Promise<RelationCounts | null> {
  return way.by === 'reference' ? countReferences(operation, state, way.places) : null;
}
