/** The text of a reference place, by which the store and the descriptions name it. Equal texts mean equal references. */
import { type Path, parsePath } from '../tree/path.ts';
import { kindOfText, type ReferencePlace, textOfKind } from './relation.ts';

/** `["spec.nodeName",null,null,"Node"]`, `["roleRef","name",null,{"kindAt":"kind","group":"apiGroup"}]` */
export function placeText({ at, name, namespace, target }: ReferencePlace): string {
  const kind =
    'kindAt' in target
      ? {
          kindAt: target.kindAt.text,
          ...(target.groupAt === null ? {} : { [target.groupAt.form]: target.groupAt.path.text }),
          ...(target.fallback === null ? {} : { fallback: textOfKind(target.fallback) }),
        }
      : textOfKind(target);
  return JSON.stringify([at.text, name?.text ?? null, namespace?.text ?? null, kind]);
}

/** Reverses `placeText`. */
export function placeOfText(text: string): ReferencePlace {
  const [at, name, namespace, kind] = JSON.parse(text) as [string, string | null, string | null, StatedText | string];
  const optional = (path: string | null | undefined): Path | null => (path == null ? null : parsePath(path));
  const places = { at: parsePath(at), name: optional(name), namespace: optional(namespace) };
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

interface StatedText {
  readonly kindAt: string;
  readonly group?: string;
  readonly apiVersion?: string;
  readonly fallback?: string;
}
