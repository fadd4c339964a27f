/**
 * Path: the one grammar for places in a field tree, used by orders, filters, promotion, printer columns and changedPaths.
 *
 *   path  = step *( "." step )
 *   step  = name [ "[]" | "[" name "=" value "]" | "[" string "]" ]
 *
 * `a.b`, `list[]`, `conditions[type=Ready].status`, `labels["app.kubernetes.io/name"]`. Names are as Kubernetes writes them.
 */

export type PathStep =
  /** A field of an object. */
  | { readonly kind: 'field'; readonly name: string }
  /** Every element of a list. */
  | { readonly kind: 'each' }
  /** The first element of a list whose field has this value. */
  | { readonly kind: 'where'; readonly field: string; readonly value: string }
  /** The value under a key of a map. */
  | { readonly kind: 'key'; readonly key: string };

export interface Path {
  /** Canonical text. */
  readonly text: string;
  readonly steps: readonly PathStep[];
}
