/** The text of a place, by which the store and the descriptions name it. Equal texts mean equal references, or equal selectors. */
import { isThroughLists, joinPaths, type Path, parsePath } from '../tree/path.ts';
import { type ConstantNamespace, kindOfText, type ReferencePlace, type SelectorPlace, textOfKind } from './relation.ts';

/**
 * `["spec.nodeName",null,null,"Node"]`, `["roleRef","name",null,{"kindAt":"kind","group":"apiGroup"}]`;
 * `["spec","secretName",{"constant":"shop"},"Secret"]` for a namespace that the declaration gives; `["spec.selector","map","none"]` for a selector.
 */
export function placeText(place: ReferencePlace | SelectorPlace): string {
  if ('form' in place) return JSON.stringify([place.path.text, place.form, place.empty]);
  const { at, name, namespace, target } = place;
  const kind =
    'kindAt' in target
      ? {
          kindAt: target.kindAt.text,
          ...(target.groupAt === null ? {} : { [target.groupAt.form]: target.groupAt.path.text }),
          ...(target.fallback === null ? {} : { fallback: textOfKind(target.fallback) }),
        }
      : textOfKind(target);
  const stated = namespace === null || 'constant' in namespace ? namespace : namespace.text;
  return JSON.stringify([at.text, name?.text ?? null, stated, kind]);
}

/** Reverses `placeText`. */
export function placeOfText(text: string): ReferencePlace | SelectorPlace {
  const written = JSON.parse(text) as WrittenSelector | WrittenReference;
  if (written.length === 3) {
    const [path, form, empty] = written;
    return { path: parsePath(path), form, empty };
  }
  const [at, name, namespace, kind] = written;
  const optional = (path: string | null | undefined): Path | null => (path == null ? null : parsePath(path));
  const stated = typeof namespace === 'string' ? parsePath(namespace) : namespace;
  const places = { at: parsePath(at), name: optional(name), namespace: stated };
  if (typeof kind === 'string') return { ...places, target: kindOfText(kind) };
  const form = kind.group === undefined ? 'apiVersion' : 'group';
  const group = optional(kind[form]);
  return {
    ...places,
    target: {
      kindAt: parsePath(kind.kindAt),
      groupAt: group === null ? null : { path: group, form },
      fallback: kind.fallback === undefined ? null : kindOfText(kind.fallback),
    },
  };
}

/** The path of the value that names the other object, or of the selector. */
export function pathOfMention(text: string): string {
  const place = placeOfText(text);
  if ('form' in place) return place.path.text;
  return place.name === null ? place.at.text : joinPaths(place.at, place.name).text;
}

/** Is it the text of a reference? Otherwise it is that of a selector. */
export function isReferencePlace(text: string): boolean {
  return (JSON.parse(text) as WrittenSelector | WrittenReference).length === 4;
}

/** May an object have several references at this place? */
export function isManyfold(text: string): boolean {
  const place = placeOfText(text);
  return 'name' in place && [place.at, ...(place.name === null ? [] : [place.name])].some(isThroughLists);
}

/** Does the reference of this place state its namespace? Otherwise it is that of the referring object. */
export function statesNamespace(text: string): boolean {
  const written = JSON.parse(text) as WrittenSelector | WrittenReference;
  return written.length === 4 && written[2] !== null;
}

type WrittenSelector = readonly [path: string, form: SelectorPlace['form'], empty: SelectorPlace['empty']];
type WrittenReference = readonly [
  at: string,
  name: string | null,
  namespace: string | ConstantNamespace | null,
  kind: WrittenKind | string,
];

interface WrittenKind {
  readonly kindAt: string;
  readonly group?: string;
  readonly apiVersion?: string;
  readonly fallback?: string;
}
