/**
 * Relations: how the objects of a kind lead to other objects. Plain data, safe to send between threads.
 *
 *   reference   a name in the object's body           Pod.spec.nodeName -> Node
 *   owner       an owner reference                    Pod -> ReplicaSet
 *   owns        an owner reference of the others      CronJob -> Jobs
 *   selector    labels of the other objects           Service.spec.selector -> Pods
 *
 * A relation is declared on the kind that has the name, the owner reference or the selector. `reverse` names the other direction.
 */
import type { Path } from '../tree/path.ts';

/** A kind without its version, so that another served version does not change a reference. */
export interface NamedKind {
  /** The empty string is the core group. */
  readonly group: string;
  readonly kind: string;
}

/** Where references by name stand in the body. */
export interface ReferencePlace {
  /** The path of each mention, through lists: a name, or an object that has the name. */
  readonly at: Path;
  /** The name below `at`; null if the value at `at` is the name. */
  readonly name: Path | null;
  /** The namespace below `at`, or one for all references; null if it is that of the referring object. An absent value stands for it as well. */
  readonly namespace: Path | ConstantNamespace | null;
  /** The kind that is mentioned: fixed, or read below `at`. */
  readonly target: NamedKind | StatedKind;
}

/** The references of all objects name objects of this namespace. */
export interface ConstantNamespace {
  readonly constant: string;
}

/** A kind that the reference itself states. */
export interface StatedKind {
  readonly kindAt: Path;
  /** The group, or an apiVersion that has it; null if the reference states none. */
  readonly groupAt: { readonly path: Path; readonly form: 'group' | 'apiVersion' } | null;
  /** The kind if the reference states none. Its group is that of a Kind without a group. */
  readonly fallback: NamedKind | null;
}

/** Where the selector of an object stands in its body. */
export interface SelectorPlace {
  readonly path: Path;
  /** `map`: labels alone, as in a Service. `labelSelector`: matchLabels and matchExpressions. */
  readonly form: 'map' | 'labelSelector';
  /** The objects that an empty selector selects. An absent one selects nothing. */
  readonly empty: 'none' | 'all';
}

/** The origin of a relation. Later ones give way to earlier ones of the same name. */
export const relationOrigins = ['CONFIGURED', 'SHIPPED', 'ANNOTATION', 'INFERRED'] as const;
export type RelationOrigin = (typeof relationOrigins)[number];

export type RelationMeans =
  | { readonly by: 'reference'; readonly places: readonly ReferencePlace[] }
  | { readonly by: 'owner' }
  /** Objects of the target have an owner reference to the objects of the source. */
  | { readonly by: 'owns' }
  /** `labels`: the path of the labels in objects of the target, through fields only; null: those of the metadata. */
  | { readonly by: 'selector'; readonly place: SelectorPlace; readonly labels: Path | null };

export interface Relation {
  /** The field on `source`. */
  readonly name: string;
  readonly source: NamedKind;
  /** Null: any kind. */
  readonly target: NamedKind | null;
  /** The field of the other direction; null if there is none. */
  readonly reverse: string | null;
  /** The kinds that have the reverse field: the target; or these, or every kind, if the target is any kind. */
  readonly reverseOn: readonly NamedKind[] | 'any';
  /** True if an object may lead to several. */
  readonly many: boolean;
  readonly means: RelationMeans;
  /** The object that it names may be gone, and is not used: the Pod of an Event. */
  readonly weak: boolean;
  readonly origin: RelationOrigin;
}

/** `Pod`, `Deployment.apps`. */
export function textOfKind({ group, kind }: NamedKind): string {
  return group === '' ? kind : `${kind}.${group}`;
}

/** Reverses `textOfKind`. A Kind has no dots, so the first dot ends it. */
export function kindOfText(text: string): NamedKind {
  const dot = text.indexOf('.');
  return dot === -1 ? { group: '', kind: text } : { group: text.slice(dot + 1), kind: text.slice(0, dot) };
}
