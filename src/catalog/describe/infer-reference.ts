/**
 * Tells whether a field of a custom resource is a reference by name, and to which kind, from its name and its type.
 *
 *   tlsSecretName: String                      a Secret
 *   passwordSecretRef: { name, key }           a Secret
 *   scaleTargetRef: { apiVersion, kind, name } the kind that the value states
 *   clusterRef: { name, namespace }            a Cluster, if the group serves that kind
 *
 * Real CustomResourceDefinitions confirm each rule. A field is no reference when the schema leaves doubt. A wrong
 * relation shows objects that have nothing to do with each other. A missing one can be declared.
 */
import type { NamedKind, ReferencePlace, StatedKind } from '../relations/relation.ts';
import type { Field, FieldTree, FieldType, Shape } from '../tree/field-tree.ts';
import { fieldPath, type Path } from '../tree/path.ts';
import { type KindFound, kindsByName, type ServedKind } from './kind-by-name.ts';

/** A reference. Its paths begin at the field, or at the object that has the field. */
export interface InferredReference extends Omit<ReferencePlace, 'at'> {
  readonly from: 'field' | 'object';
}

/** Why a field that looks like a reference is not used. */
export interface Doubt {
  readonly reason: string;
}

/** A field and its place in the schema. */
interface FieldPlace {
  readonly field: Field;
  /** The shape that has the field. */
  readonly beside: Shape;
  /** The field is below the parameters of an external API (isParameters). */
  readonly parameter: boolean;
  /** The description is of this place. Shapes of equal structure share those of their first place. */
  readonly described: boolean;
}

/** Crossplane's fields with the parameters of an external API: plain names in them mean objects of that API. */
export function isParameters(name: string): boolean {
  return name === 'forProvider' || name === 'initProvider';
}

/**
 * Do the objects of the kind stand for objects of an external API, so that their plain names mean objects there? The kinds of AWS
 * Controllers for Kubernetes and of Azure Service Operator have these fields.
 */
function mirrorsExternalObject({ root, shapes }: FieldTree): boolean {
  return [
    ['spec', 'azureName'],
    ['status', 'ackResourceMetadata'],
  ].some(([part, name]) => {
    const type = shapes[root]?.fields.find((field) => field.name === part)?.type;
    const shape = type?.kind === 'object' ? shapes[type.shape] : undefined;
    return shape !== undefined && name !== undefined && has(shape, name);
  });
}

/** The suffix of a field that holds a reference. */
const referenceSuffix = /(Ref|Reference|^ref|^reference)s?$/;
const nameSuffix = /Names?$/;

/** Built-in kinds that objects mention without the suffix: `tlsSecret: { name }`. */
const plainlyMentioned: ReadonlySet<string> = new Set([
  'Secret',
  'ConfigMap',
  'ServiceAccount',
  'PersistentVolumeClaim',
]);

/** Names of well-known leaves whose kind shows only by the fields beside them. */
const knownByNeighbours: Readonly<Record<string, { readonly kind: string; readonly beside: readonly string[] }>> = {
  claimName: { kind: 'persistentVolumeClaim', beside: ['readOnly'] },
  serviceName: { kind: 'service', beside: ['servicePort', 'serviceNamespace'] },
  volumeName: { kind: 'persistentVolume', beside: ['accessModes'] },
};

/** Fields of a reference whose object is not in the cluster, or in another scope, if that field is set. */
const elsewhere = ['external', 'policy', 'clusterScope', 'namespaced'];

export class ReferenceRules {
  readonly #source: { readonly group: string; readonly kind: string; readonly namespaced: boolean };
  readonly #tree: FieldTree;
  readonly #served: readonly ServedKind[];
  readonly #mirrors: boolean;

  constructor(
    source: { readonly group: string; readonly kind: string; readonly namespaced: boolean },
    tree: FieldTree,
    served: readonly ServedKind[],
  ) {
    this.#source = source;
    this.#tree = tree;
    this.#served = served;
    this.#mirrors = mirrorsExternalObject(tree);
  }

  #find(name: string): readonly KindFound[] {
    return kindsByName(name, this.#source.group, this.#served);
  }

  /** Null if the field does not look like a reference. */
  infer(place: FieldPlace): InferredReference | Doubt | null {
    const type = elementOf(place.field.type);
    if (type.kind === 'leaf') return type.type === 'String' ? this.#ofText(place) : null;
    const shape = type.kind === 'object' ? this.#tree.shapes[type.shape] : undefined;
    if (shape === undefined || !hasText(shape, 'name')) return null;
    if (referenceSuffix.test(place.field.name)) return this.#ofReference(place, shape);
    return place.parameter ? null : this.#ofObject(place, shape);
  }

  /** `xRef: { name, … }`. */
  #ofReference({ field, parameter, described }: FieldPlace, shape: Shape): InferredReference | Doubt {
    const stem = plainName(field.name.replace(referenceSuffix, ''));
    if (hasText(shape, 'kind')) return this.#stated(stem, shape);
    const resolved = described ? resolvedKind(field.description) : null;
    if (resolved !== null) return this.#resolved(resolved, shape);
    const [found = stem !== '' && isSelector(shape) ? secret : undefined, other] = this.#find(stem);
    if (found !== undefined && other !== undefined) return ambiguous(found, other);
    const served = found !== undefined && found.from !== 'builtIn';
    const here = !elsewhere.some((name) => has(shape, name));
    const clear = parameter ? !served && here : here || (served && found.whole);
    return found !== undefined && clear
      ? this.#toObject(found, shape)
      : { reason: 'the schema does not say which kind it names' };
  }

  /** The reference states the Kind itself. */
  #stated(stem: string, shape: Shape): InferredReference | Doubt {
    const form = hasText(shape, 'apiVersion') ? 'apiVersion' : 'group';
    const group = ['apiVersion', 'apiGroup', 'group'].find((name) => hasText(shape, name));
    const [found, other] = this.#find(stem);
    const fallback = found === undefined || other !== undefined ? null : found.kind;
    if (group === undefined && fallback === null) return { reason: 'it states a Kind without its group' };
    const target: StatedKind = {
      kindAt: path('kind'),
      groupAt: group === undefined ? null : { path: path(group), form },
      fallback,
    };
    return { from: 'field', name: path('name'), namespace: namespaceIn(shape), target };
  }

  /** The description of a reference that Crossplane resolves states the Kind, and the first label of its group. */
  #resolved({ kind, label }: ResolvedKind, shape: Shape): InferredReference | Doubt {
    const labels = this.#source.group.split('.');
    const target = { group: [label ?? labels[0], ...labels.slice(1)].join('.'), kind };
    const served = this.#served.find((each) => each.kind === kind && each.group === target.group);
    if (served === undefined) return { reason: `its kind ${kind} of ${target.group} is not served` };
    return this.#toObject({ kind: target, namespaced: served.namespaced, from: 'own', whole: true }, shape);
  }

  /** `xSecret: { name, key }`, `cluster: { name }`. */
  #ofObject({ field }: FieldPlace, shape: Shape): InferredReference | Doubt | null {
    if (!only(shape, ['name', 'namespace', 'key', 'optional', 'items', 'defaultMode'])) return null;
    const [found, other] = this.#find(plainName(field.name));
    if (found !== undefined && other !== undefined) return ambiguous(found, other);
    const mentioned =
      found?.from === 'builtIn'
        ? plainlyMentioned.has(found.kind.kind)
        : found?.from === 'own' && found.whole && only(shape, ['name', 'namespace']);
    if (found !== undefined && mentioned) return this.#toObject(found, shape);
    return isSelector(shape) && has(shape, 'optional') ? this.#toObject(secret, shape) : null;
  }

  #toObject(found: KindFound, shape: Shape): InferredReference | Doubt {
    return this.#inScope(found, {
      from: 'field',
      name: path('name'),
      namespace: namespaceIn(shape),
      target: found.kind,
    });
  }

  /** `xName: String`, and `xRef: String`. */
  #ofText({ field, beside, parameter }: FieldPlace): InferredReference | Doubt | null {
    const { name } = field;
    const suffix = [nameSuffix, referenceSuffix].find((each) => each.test(name));
    if (suffix === undefined || parameter || this.#mirrors) return null;
    const neighbours = Object.hasOwn(knownByNeighbours, name) ? knownByNeighbours[name] : undefined;
    const clear = neighbours?.beside.some((each) => has(beside, each)) === true;
    const stem = name.replace(suffix, '');
    const [found, other] = this.#find(clear ? (neighbours?.kind ?? stem) : stem);
    if (found === undefined || found.from === 'near') return null;
    if (suffix !== nameSuffix && !plainlyMentioned.has(found.kind.kind)) return null;
    if (other !== undefined) return ambiguous(found, other);
    if (found.from === 'own' && (!found.whole || has(beside, `${stem}Ref`))) return null;
    if (found.from === 'builtIn' && neighbours !== undefined && !clear)
      return { reason: 'its name alone does not tell whether it names an object' };
    if (found.kind.group === this.#source.group && found.kind.kind === this.#source.kind && field.type.kind !== 'list')
      return { reason: 'it may be the name of the object itself' };
    return this.#ofNamed(found, stem, field, beside);
  }

  /** A name alone. Its namespace may stand beside it. */
  #ofNamed(found: KindFound, stem: string, field: Field, beside: Shape): InferredReference | Doubt {
    const here: InferredReference = { from: 'field', name: null, namespace: null, target: found.kind };
    if (!found.namespaced) return here;
    const namespace = `${stem}Namespace`;
    if (hasText(beside, namespace) && field.type.kind !== 'list')
      return { from: 'object', name: path(field.name), namespace: path(namespace), target: found.kind };
    if (has(beside, namespace) || (has(beside, 'namespace') && !has(beside, 'name')))
      return { reason: 'the schema does not say whether the namespace beside it is that of the object' };
    return this.#inScope(found, here);
  }

  /** The reference, unless nothing says in which namespace the object is. */
  #inScope(found: KindFound, reference: InferredReference): InferredReference | Doubt {
    if (!found.namespaced || this.#source.namespaced || reference.namespace !== null) return reference;
    return { reason: `it names a namespaced ${found.kind.kind} without its namespace, and the kind is cluster-scoped` };
  }
}

interface ResolvedKind {
  readonly kind: string;
  /** The first label of the group; null for the group of the source. */
  readonly label: string | null;
}

/** Crossplane's generators describe each reference like this: `Reference to a Network in compute to populate network.` */
function resolvedKind(description: string | undefined): ResolvedKind | null {
  const found = /^References? to (?:an? )?([A-Z][A-Za-z0-9]*)(?: in ([a-z0-9]+))? to populate /.exec(description ?? '');
  return found?.[1] === undefined ? null : { kind: found[1], label: found[2] ?? null };
}

const secret: KindFound = { kind: { group: '', kind: 'Secret' }, namespaced: true, from: 'builtIn', whole: false };

/** The shape of core/v1 SecretKeySelector, with a namespace in some kinds. */
function isSelector(shape: Shape): boolean {
  return has(shape, 'key') && only(shape, ['name', 'namespace', 'key', 'optional']);
}

function ambiguous(one: KindFound, other: KindFound): Doubt {
  const [a, b] = [one, other].map(
    ({ kind }: { readonly kind: NamedKind }) => `${kind.kind} of ${kind.group || 'core'}`,
  );
  return { reason: `its name means ${a} as well as ${b}` };
}

/** The name without the word that says why the object is meant: `configMapKey`, `connectionSecretTo`. */
function plainName(name: string): string {
  return name.replace(/(?<=Secret|ConfigMap)(Key|Target|To)$/i, '');
}

function namespaceIn(shape: Shape): Path | null {
  return hasText(shape, 'namespace') ? path('namespace') : null;
}

function path(name: string): Path {
  return fieldPath([name]);
}

function has({ fields }: Shape, name: string): boolean {
  return fields.some((field) => field.name === name);
}

function hasText({ fields }: Shape, name: string): boolean {
  return fields.some((field) => field.name === name && field.type.kind === 'leaf' && field.type.type === 'String');
}

function only({ fields }: Shape, names: readonly string[]): boolean {
  return fields.every(({ name }) => names.includes(name));
}

/** The type of the elements of a list, through lists of lists; otherwise the type itself. */
export function elementOf(type: FieldType): FieldType {
  return type.kind === 'list' ? elementOf(type.of) : type;
}
