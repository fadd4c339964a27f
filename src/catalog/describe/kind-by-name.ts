/**
 * Finds the kinds that the name of a field means: `tlsSecret` a Secret, `sourceCluster` a Cluster of the same group.
 *
 *   name -> its words -> the longest end of the words that is a Kind or a plural, letter case ignored
 *
 * Candidates are the kinds of the group and a closed list of kinds of kube-apiserver. A whole name may also mean a kind of a parent
 * group (`cert-manager.io` of `acme.cert-manager.io`), or else of a sister group (`kibana.k8s.elastic.co` of `agent.k8s.elastic.co`).
 * Groups are sisters if their parent has at least three labels: unrelated projects share the parent `crossplane.io`.
 */
import { kindOfText, type NamedKind } from '../relations/relation.ts';
import type { Resource } from '../resources/resource.ts';

/** A kind that a cluster serves, as discovery has it. */
export type ServedKind = Pick<Resource, 'group' | 'kind' | 'plural' | 'namespaced'>;

export interface KindFound {
  readonly kind: NamedKind;
  readonly namespaced: boolean;
  /** `own`: of the group. `near`: of a parent or a sister group. `builtIn`: of the closed list. */
  readonly from: 'own' | 'near' | 'builtIn';
  /** True if the whole name is the kind's, false if only its end is. */
  readonly whole: boolean;
}

/**
 * The kinds of kube-apiserver that custom resources mention by name, as `Kind.group`. `!` marks those whose name at the end of a
 * longer one often means something else: a `grpcServiceName` names no Service.
 */
const namespacedKinds = `Secret ConfigMap ServiceAccount !Service !Ingress.networking.k8s.io PersistentVolumeClaim
  ResourceClaim.resource.k8s.io ResourceClaimTemplate.resource.k8s.io`;
const clusterKinds = `!Node PersistentVolume StorageClass.storage.k8s.io VolumeAttributesClass.storage.k8s.io
  PriorityClass.scheduling.k8s.io RuntimeClass.node.k8s.io IngressClass.networking.k8s.io`;

interface BuiltIn extends NamedKind {
  readonly namespaced: boolean;
  readonly wholeOnly: boolean;
}

/** By the name in lower case, in the singular and the plural. */
const builtIns: ReadonlyMap<string, BuiltIn> = new Map(
  [
    ...namespacedKinds.split(/\s+/).map((text) => builtInOf(text, true)),
    ...clusterKinds.split(/\s+/).map((text) => builtInOf(text, false)),
  ].flatMap((each) => {
    const name = each.kind.toLowerCase();
    const names = [name, name.endsWith('s') ? `${name}es` : `${name}s`];
    if (name === 'persistentvolumeclaim') names.push('pvc', 'pvcs');
    return names.map((text) => [text, each] as const);
  }),
);

function builtInOf(text: string, namespaced: boolean): BuiltIn {
  return { ...kindOfText(text.replace('!', '')), namespaced, wholeOnly: text.startsWith('!') };
}

/** The served kinds by Kind and plural in lower case, cached by their list: every kind of a cluster asks. */
const indexes = new WeakMap<readonly ServedKind[], ReadonlyMap<string, readonly ServedKind[]>>();

function indexOf(served: readonly ServedKind[]): ReadonlyMap<string, readonly ServedKind[]> {
  const known = indexes.get(served);
  if (known !== undefined) return known;
  const index = new Map<string, ServedKind[]>();
  for (const each of served) {
    for (const name of new Set([each.kind.toLowerCase(), each.plural.toLowerCase()])) {
      const same = index.get(name) ?? [];
      if (!same.some(({ group, kind }) => group === each.group && kind === each.kind)) index.set(name, [...same, each]);
    }
  }
  indexes.set(served, index);
  return index;
}

/**
 * The kinds that a name in camel case means to the custom resources of a group. More than one: the name is ambiguous.
 * @param served every kind that the cluster serves.
 */
export function kindsByName(name: string, group: string, served: readonly ServedKind[]): readonly KindFound[] {
  const words = wordsOf(name);
  for (let first = 0; first < words.length; first++) {
    const whole = first === 0;
    const text = words.slice(first).join('');
    const candidates = indexOf(served).get(text) ?? [];
    const own = candidates.filter((each) => each.group === group);
    const builtIn = builtIns.get(text);
    const found: readonly KindFound[] = [
      ...own.map((each) => foundOf(each, 'own', whole)),
      ...(builtIn === undefined || (builtIn.wholeOnly && !whole) ? [] : [foundOf(builtIn, 'builtIn', whole)]),
    ];
    if (found.length > 0) return found;
    const near = whole ? nearestOf(candidates, group) : [];
    if (near.length > 0) return near.map((each) => foundOf(each, 'near', whole));
  }
  return [];
}

function foundOf(
  { group, kind, namespaced }: Omit<BuiltIn, 'wholeOnly'>,
  from: KindFound['from'],
  whole: boolean,
): KindFound {
  return { kind: { group, kind }, namespaced, from, whole };
}

/** Those of the nearest parent group that has any; or else those of sister groups. */
function nearestOf(candidates: readonly ServedKind[], group: string): readonly ServedKind[] {
  const labels = group.split('.');
  for (let first = 1; first < labels.length; first++) {
    const parent = labels.slice(first).join('.');
    const found = candidates.filter((each) => each.group === parent);
    if (found.length > 0) return found;
  }
  const family = `.${labels.slice(1).join('.')}`;
  return labels.length < 4 ? [] : candidates.filter((each) => each.group.endsWith(family));
}

/** The words of a name in camel case, in lower case: `tlsCASecret` is tls, ca, secret. */
function wordsOf(name: string): readonly string[] {
  return (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+/g) ?? []).map((word) => word.toLowerCase());
}
