/** The required fields of several schemas that are one shape: all of these schemas require them. */
import type { Field, FieldTree } from './field-tree.ts';

/** The fields that are required in all of these lists of fields. A list without a field does not require it. */
export function requiredInAll(lists: readonly (readonly Field[])[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const fields of lists) {
    for (const { name, required } of fields) if (required === true) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return new Set([...counts].filter(([, count]) => count === lists.length).map(([name]) => name));
}

/** The same fields, of which exactly these are required. A field that needs no change is returned as the same object. */
export function withRequired(fields: readonly Field[], names: ReadonlySet<string>): readonly Field[] {
  return fields.map((field): Field => {
    const { required, ...others } = field;
    if ((required === true) === names.has(field.name)) return field;
    return names.has(field.name) ? { ...others, required: true } : others;
  });
}

/** Do two trees of equal structure require the same fields? */
export function requireTheSame(a: FieldTree, b: FieldTree): boolean {
  if (a === b) return true;
  return Object.entries(a.shapes).every(([key, { fields }]) => {
    const others = b.shapes[key]?.fields;
    return others !== undefined && fields.every((field, index) => field.required === others[index]?.required);
  });
}
