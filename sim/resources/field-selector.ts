/** Field selectors (`metadata.name=a,status.phase!=Running`) over the selectable fields of a resource. */
import { at, type JsonObject } from '../objects/json.ts';
import { statusErrors } from '../objects/status-error.ts';
import type { ServedResource } from './served-resource.ts';

export type FieldPredicate = (object: JsonObject) => boolean;

/** The text of a scalar, as field selectors compare it; '' when absent. */
function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

/** Parses a selector; undefined for an empty one. Throws a 400 Status for an unsupported field. */
export function parseFieldSelector(text: string, resource: ServedResource): FieldPredicate | undefined {
  const tests: FieldPredicate[] = [];
  for (const part of text.split(/(?<!\\),/)) {
    if (part.trim() === '') continue;
    const found = /^([^=!]+)(==|=|!=)((?:[^\\=]|\\.)*)$/s.exec(part.trim());
    if (!found) throw statusErrors.badRequest(`invalid selector: '${text}'; can't understand '${part}'`);
    const [, field = '', operator, escaped = ''] = found;
    const value = escaped.replace(/\\([,=\\])/g, '$1');
    const keys = pathOf(field, resource);
    if (!keys) throw statusErrors.badRequest(`field label not supported: ${field}`);
    const equal = operator !== '!=';
    tests.push((object) => (textOf(at(object, ...keys)) === value) === equal);
  }
  return tests.length === 0 ? undefined : (object) => tests.every((test) => test(object));
}

function pathOf(field: string, resource: ServedResource): readonly string[] | undefined {
  if (field === 'metadata.name') return ['metadata', 'name'];
  if (field === 'metadata.namespace' && resource.namespaced) return ['metadata', 'namespace'];
  return resource.selectableFields.get(field);
}
