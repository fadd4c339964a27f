import { type DocumentNode, type FragmentDefinitionNode, Kind } from 'graphql';

/** A document's fragments by name. The record has no prototype, because callers choose the names. */
export function documentFragments({ definitions }: DocumentNode): Readonly<Record<string, FragmentDefinitionNode>> {
  const fragments: Record<string, FragmentDefinitionNode> = Object.create(null);
  for (const each of definitions) if (each.kind === Kind.FRAGMENT_DEFINITION) fragments[each.name.value] = each;
  return fragments;
}
