/**
 * Maps Kubernetes field names to GraphQL names.
 *
 * A valid GraphQL name is unchanged. In other names:
 * - "-" becomes "__", "." becomes "___", any other illegal character becomes "_xHEX_".
 * - Illegal characters in a run, at the start or at the end each become "_xHEX_".
 * - A "_" becomes "_xHEX_" if it would be decoded as something else. That is: first before a digit, last, doubled, or in a name with
 *   a text that looks like "_xHEX_".
 * - A leading digit gets the prefix "_".
 * - `id` and `_id` get the suffix "_" everywhere, because clients take `id` for the identity of a cached object. So do the names
 *   that the gateway adds at a kind's root.
 *
 * Invariant: two Kubernetes names never get the same GraphQL name. Tests read the names back.
 */
import { injectedFields } from './reserved-names.ts';

export type FieldPosition = 'root' | 'nested';

const looksLikeHex = /_x[0-9A-F]+[^A-Za-z0-9]/;

/**
 * The GraphQL name of a field.
 * @param position whether the field is at the root of a kind or in a nested object.
 * @param reserved the names that the gateway adds to the object; at a kind's root this is {@link injectedFields}.
 * `apiVersion`, `kind` and `metadata` are the object's own and are never reserved.
 */
export function fieldName(
  kubernetesName: string,
  position: FieldPosition,
  reserved: ReadonlySet<string> = injectedFields,
): string {
  if (kubernetesName === 'id' || kubernetesName === '_id') return `${kubernetesName}_`;
  const name = legalName(kubernetesName);
  return position === 'root' && reserved.has(name) && !ownRootFields.has(name) ? `${name}_` : name;
}

const ownRootFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** The name with illegal characters mapped and reserved words unchanged; nested type names are built from it. */
export function legalName(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !/__|^_[0-9]|_$/.test(name) && !looksLikeHex.test(name)) return name;
  if (name === '') return '_';
  const everyUnderscore = looksLikeHex.test(name);
  let mapped = /^[0-9]/.test(name) ? '_' : '';
  for (const match of name.matchAll(/[A-Za-z0-9]+|[^A-Za-z0-9]+/gu)) {
    const part = match[0];
    if (/^[A-Za-z0-9]/.test(part)) {
      mapped += part;
      continue;
    }
    const first = match.index === 0;
    const last = match.index + part.length === name.length;
    if (part === '-' && !first && !last) mapped += '__';
    else if (part === '.' && !first && !last) mapped += '___';
    else if (part === '_' && !last && !everyUnderscore && !(first && /^_[0-9]/.test(name))) mapped += '_';
    else for (const character of part) mapped += hex(character);
  }
  return mapped;
}

function hex(character: string): string {
  return `_x${(character.codePointAt(0) ?? 0).toString(16).toUpperCase()}_`;
}
