/**
 * Finds the target of each alias in a YAML document: the last anchor of its name before it.
 *
 * The walk also measures what the document becomes once each alias is a copy, before any copy is made. A document of some lines can
 * become gigabytes:
 *
 *   a: &a [x, x, x, x]          5 values
 *   b: &b [*a, *a, *a, *a]      21
 *   c: &c [*b, *b, *b, *b]      85, each level four times as many
 */
import { type Alias, isAlias, isScalar, type ParsedNode } from 'yaml';
import type { ManifestBudget } from './manifest-bounds.ts';
import type { ManifestText } from './manifest-text.ts';

/** The size of a value with copies for its aliases. */
interface Extent {
  readonly values: number;
  /** Of its scalars and keys. */
  readonly characters: number;
  /** 0 for a scalar. */
  readonly levels: number;
}

/**
 * @param start the offset of the document in the text
 * @throws PortolanError BAD_USER_INPUT for an alias without an anchor, for one in its own anchor, and beyond a bound
 */
export function aliasTargets(
  root: ParsedNode | null,
  source: ManifestText,
  start: number,
  budget: ManifestBudget,
): ReadonlyMap<Alias, ParsedNode> {
  const anchors = new Map<string, ParsedNode>();
  const targets = new Map<Alias, ParsedNode>();
  const extents = new Map<ParsedNode, Extent>();

  /** `level` is that of the node if it is a list or an object. */
  function measure(node: ParsedNode | null, level: number): Extent {
    if (node === null) return scalar(0);
    if (isAlias(node)) return copyOf(node, level);
    if (node.anchor !== undefined) anchors.set(node.anchor, node);
    const extent = isScalar(node) ? scalar(String(node.value).length) : collection(node.items, level);
    if (node.anchor !== undefined) extents.set(node, extent);
    return extent;
  }

  function scalar(characters: number): Extent {
    budget.values(1);
    budget.characters(characters);
    return { values: 1, characters, levels: 0 };
  }

  function collection(
    items: readonly (ParsedNode | { readonly key: ParsedNode; readonly value: ParsedNode | null })[],
    level: number,
  ): Extent {
    budget.values(1);
    budget.level(level);
    let values = 1;
    let characters = 0;
    let levels = 0;
    for (const item of items) {
      for (const node of 'key' in item ? [item.key, item.value ?? null] : [item]) {
        const inner = measure(node, level + 1);
        values += inner.values;
        characters += inner.characters;
        levels = Math.max(levels, inner.levels);
      }
    }
    return { values, characters, levels: levels + 1 };
  }

  function copyOf(alias: Alias.Parsed, level: number): Extent {
    budget.alias();
    const offset = start + alias.range[0];
    const target = anchors.get(alias.source);
    if (target === undefined)
      throw source.error(offset, `There is no anchor &${alias.source} before the alias`, 'Add the anchor.');
    const extent = extents.get(target);
    if (extent === undefined)
      throw source.error(offset, `The anchor &${alias.source} contains itself`, 'Remove the alias.');
    targets.set(alias, target);
    budget.values(extent.values);
    budget.characters(extent.characters);
    budget.level(level - 1 + extent.levels);
    return extent;
  }

  measure(root, 1);
  return targets;
}
