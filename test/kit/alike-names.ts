/** Names of types and root fields that two kinds of a catalog have, in any letter case. */
import { enumFilterName } from '../../src/catalog/names/enum-names.ts';
import { nameFilters, nameShapes } from '../../src/catalog/names/shape-names.ts';
import type { Catalog } from '../../src/catalog/resources/catalog.ts';

export function alikeNames({ kinds }: Pick<Catalog, 'kinds'>): readonly string[] {
  const holders = new Map<string, string>();
  const alike: string[] = [];
  const claim = (space: string, name: string, holder: string): void => {
    const folded = `${space} ${name.toLowerCase()}`;
    const known = holders.get(folded);
    if (known !== undefined && known !== holder) alike.push(`${name} of ${known} and ${holder}`);
    holders.set(folded, holder);
  };
  for (const { key, names, tree } of kinds) {
    const { list, one, subscription, enums = {}, ...types } = names;
    for (const name of [list, one]) claim('query', name, key);
    claim('subscription', subscription, key);
    for (const name of Object.values(types)) claim('type', name, key);
    for (const [field, name] of Object.entries(enums)) {
      for (const each of [name, enumFilterName(name)]) claim('type', each, `${key} ${field}`);
    }
    const filters = nameFilters(names.type, tree);
    for (const [shapeKey, name] of nameShapes(names.type, tree)) {
      if (shapeKey === tree.root) continue;
      // A definition is one type in all kinds, so it belongs to none of them.
      const definition = tree.shapes[shapeKey]?.definition;
      const holder = definition === undefined ? key : `the definition ${definition}`;
      claim('type', name, holder);
      const { object, list, mapEntry } = filters.get(shapeKey) ?? {};
      for (const filter of [object, list, mapEntry]) if (filter !== undefined) claim('type', filter, holder);
    }
  }
  return alike;
}
