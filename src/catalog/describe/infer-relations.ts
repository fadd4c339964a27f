/**
 * Infers the relations of a custom resource from its schema alone.
 *
 *   fields of the tree, breadth first -> references (infer-reference.ts) -> named relations -> those whose names are free
 *
 *   spec.issuerRef                    issuer                to the kind that the value states
 *   spec.tls[].secretName             tlsSecrets            to Secrets
 *   spec.bootstrap.dataSecretName     bootstrapDataSecret   to a Secret
 *
 * Invariants: the name of a relation is a function of its own path alone. Relations whose names are alike are all left out. The
 * result depends on the input only.
 */
import { upperFirst } from '../../base/text/upper-first.ts';
import { fieldName } from '../names/field-names.ts';
import { filterFields, injectedFields, isOwnGroup } from '../names/reserved-names.ts';
import type { Relation } from '../relations/relation.ts';
import { type FieldTree, type FieldType, type Shape, shapeOf } from '../tree/field-tree.ts';
import { isThroughLists, type PathStep, pathOf } from '../tree/path.ts';
import { type Doubt, elementOf, type InferredReference, isParameters, ReferenceRules } from './infer-reference.ts';
import type { ServedKind } from './kind-by-name.ts';

/** The relations that the schema of a kind suggests. */
export interface InferredRelations {
  /** Origin INFERRED, one place each, without the other direction. The shallowest places come first. */
  readonly relations: readonly Relation[];
  /** Fields that look like references and are not used. */
  readonly skipped: readonly SkippedField[];
}

interface SkippedField {
  readonly path: string;
  readonly reason: string;
}

type Source = Pick<ServedKind, 'group' | 'kind' | 'namespaced'>;

/** A relation that needs a free name, and the path of its field. */
interface Named {
  readonly path: string;
  readonly relation: Relation;
}

/** An object of the schema. */
interface Visit {
  readonly shape: Shape;
  readonly steps: readonly PathStep[];
  /** The shapes above and this one, by key. A recursive schema ends at them. */
  readonly open: ReadonlySet<string>;
  /** Below the parameters of another API. */
  readonly parameter: boolean;
}

/** Maximum number of relations of a kind. */
const mostRelations = 64;

/** Maximum number of objects of a schema that are visited. The paths of a recursive schema can be very many. */
const mostVisits = 50_000;

/** Fields that are not desired state, in the object and in objects embedded in it. */
const passedBy: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

/**
 * Infers the relations of a kind. Kinds of kube-apiserver's own groups have none, because theirs are declared.
 * @param kinds every kind that the cluster serves.
 */
export function inferRelations(source: Source, tree: FieldTree, kinds: readonly ServedKind[]): InferredRelations {
  if (isOwnGroup(source.group)) return { relations: [], skipped: [] };
  const { named, skipped } = findReferences(source, tree, kinds);
  const alike = Map.groupBy(named, ({ relation }) => relation.name.toLowerCase());
  const taken = takenNames(tree);
  const relations: Relation[] = [];
  for (const [name, all] of alike) {
    for (const { path, relation } of all) {
      const reason = taken.has(name)
        ? `the kind has a field with the name ${relation.name}`
        : all.length > 1
          ? `the name ${relation.name} would be that of ${all.length} relations`
          : relations.length === mostRelations
            ? `the kind has ${mostRelations} relations already`
            : null;
      if (reason === null) relations.push(relation);
      else skipped.push({ path, reason });
    }
  }
  return { relations, skipped };
}

/** Visits the objects of the schema, breadth first, and infers a reference from each field. */
function findReferences(
  source: Source,
  tree: FieldTree,
  kinds: readonly ServedKind[],
): { readonly named: readonly Named[]; readonly skipped: SkippedField[] } {
  const rules = new ReferenceRules(source, tree, kinds);
  const named: Named[] = [];
  const skipped: SkippedField[] = [];
  const root = shapeOf(tree, tree.root);
  const queue: Visit[] = [{ shape: root, steps: [], open: new Set([root.key]), parameter: false }];
  for (const { shape, steps, open, parameter } of queue) {
    const described = isFirstPlace(shape, steps);
    for (const field of shape.fields) {
      if (passedBy.has(field.name)) continue;
      const here = [...steps, { kind: 'field', name: field.name } as const, ...eachOf(field.type)];
      const inferred = rules.infer({ field, beside: shape, parameter, described });
      if (inferred !== null) {
        const path = pathOf(here).text;
        const found = 'reason' in inferred ? inferred : relationOf(source, inferred, steps, here);
        if ('reason' in found) skipped.push({ path, reason: found.reason });
        else named.push({ path, relation: found });
      }
      const type = elementOf(field.type);
      const below = type.kind === 'object' ? shapeOf(tree, type.shape) : null;
      if (below === null || open.has(below.key) || isPodPart(tree, below, here)) continue;
      if (queue.length === mostVisits) return { named, skipped };
      queue.push({
        shape: below,
        steps: here,
        open: new Set([...open, below.key]),
        parameter: parameter || isParameters(field.name),
      });
    }
  }
  return { named, skipped };
}

/** The relation of a reference in the field at `here`, which is a field of the object at `above`. */
function relationOf(
  { group, kind }: Source,
  { from, ...reference }: InferredReference,
  above: readonly PathStep[],
  here: readonly PathStep[],
): Relation | Doubt {
  const at = pathOf(from === 'field' ? here : above);
  if (at.steps.length === 0) return { reason: 'its name and its namespace are at the root of the object' };
  const many = isThroughLists(at);
  const name = relationName(fieldsOf(here), many);
  if (name === null) return { reason: 'no name begins with its path' };
  return {
    name,
    source: { group, kind },
    target: 'kindAt' in reference.target ? null : reference.target,
    reverse: null,
    reverseOn: [],
    many,
    means: { by: 'reference', places: [{ at, ...reference }] },
    weak: false,
    origin: 'INFERRED',
  };
}

/** Is this the first place of the shape? The parameters of a Crossplane resource stand in two fields with equal descriptions. */
function isFirstPlace({ path }: Shape, steps: readonly PathStep[]): boolean {
  const first = (names: readonly string[]) =>
    names.map((name) => (isParameters(name) ? 'parameters' : name)).join('\n');
  return first(path) === first(fieldsOf(steps));
}

function fieldsOf(steps: readonly PathStep[]): readonly string[] {
  return steps.flatMap((step) => (step.kind === 'field' ? [step.name] : []));
}

function eachOf(type: FieldType): readonly PathStep[] {
  return type.kind === 'list' ? [{ kind: 'each' }, ...eachOf(type.of)] : [];
}

const podDefinitions: ReadonlySet<string> = new Set(['PodSpec', 'PodTemplateSpec', 'Container', 'Volume']);

/**
 * Is the shape a Pod's spec, a container or a volume? The Pods that come of them have these references too. A kind's own spec is no
 * Pod's, also if it has containers.
 */
function isPodPart(tree: FieldTree, shape: Shape, steps: readonly PathStep[]): boolean {
  if (shape.definition !== undefined) return podDefinitions.has(shape.definition);
  if (isContainer(shape) || hasAll(shape, ['emptyDir', 'hostPath'])) return true;
  const containers = shape.fields.find(({ name }) => name === 'containers')?.type;
  const container = containers?.kind === 'list' && containers.of.kind === 'object' ? containers.of.shape : null;
  return steps.length > 1 && container !== null && isContainer(tree.shapes[container]);
}

function isContainer(shape: Shape | undefined): boolean {
  return shape !== undefined && hasAll(shape, ['name', 'image', 'env', 'volumeMounts']);
}

function hasAll({ fields }: Shape, names: readonly string[]): boolean {
  return names.every((name) => fields.some((field) => field.name === name));
}

/** The names of the gateway's own fields, in lower case. */
const reserved: ReadonlySet<string> = new Set([...injectedFields, ...filterFields].map((name) => name.toLowerCase()));

/**
 * The path in camel case without a leading `spec` and without the suffix of a reference, in the plural if it leads to many. The suffix
 * stays if the name would be one of the gateway's own: `clusterName`. Null if the path has no letter to begin with.
 */
function relationName(fields: readonly string[], many: boolean): string | null {
  const words = (fields[0] === 'spec' && fields.length > 1 ? fields.slice(1) : fields).flatMap((name) =>
    name.split(/[^A-Za-z0-9]+/).filter((word) => word !== ''),
  );
  const whole = words.map((word, index) => (index === 0 ? lowerFirst(word) : upperFirst(word))).join('');
  const counted = (name: string): string => (many ? pluralOf(name) : name);
  const short = counted(whole.replace(/(Reference|Ref|Name)s?$/, ''));
  const name = reserved.has(short.toLowerCase()) ? counted(whole) : short;
  return /^[a-z][A-Za-z0-9]*$/.test(name) ? name : null;
}

function pluralOf(name: string): string {
  if (/(ss|x|ch|sh)$/.test(name)) return `${name}es`;
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`;
  return name.endsWith('s') ? name : `${name}s`;
}

/** Lowers the first letter, or the abbreviation that the text begins with: `TLS` is `tls`. */
function lowerFirst(text: string): string {
  return text.replace(/^([A-Z]+(?![a-z])|[A-Z])/, (capitals) => capitals.toLowerCase());
}

/** The names at the root of a kind that a relation must not have, in lower case: data in both spellings, and the gateway's own. */
function takenNames(tree: FieldTree): ReadonlySet<string> {
  const fields = tree.shapes[tree.root]?.fields ?? [];
  const data = fields.flatMap(({ name }) => [name, fieldName(name, 'root')]);
  return new Set([...data.map((name) => name.toLowerCase()), ...reserved]);
}
