/**
 * Reads declarations of relations: schema/relations.yaml, a file of the configuration, or an annotation of a CRD.
 *
 *   parsed YAML -> each declaration is validated by itself -> relations, and a problem for each declaration that is wrong
 *
 * Invariant: a wrong declaration costs that relation only. The caller reports the problems.
 */
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf } from '../../base/errors.ts';
import { issuesText } from '../../base/text/issues-text.ts';
import { pathText } from '../paths/path-text.ts';
import { isThroughLists, joinPaths, type Path, parsePath } from '../tree/path.ts';
import { recordOf } from '../values/displayed-value.ts';
import {
  kindOfText,
  type NamedKind,
  type ReferencePlace,
  type Relation,
  type RelationMeans,
  type RelationOrigin,
  textOfKind,
} from './relation.ts';

/** A declaration that cannot be used. */
interface RelationProblem {
  /** The kind of the declaration (textOfKind); null if it cannot be read. */
  readonly source: string | null;
  /** The declaration as its reader finds it: `Pod.node`, or its position (from 1). */
  readonly declaration: string;
  readonly message: string;
}

export interface ReadRelations {
  readonly relations: readonly Relation[];
  /** Relations that are switched off: `Pod.node`, `Gateway.gateway.networking.k8s.io.tlsSecrets`. */
  readonly off: readonly string[];
  readonly problems: readonly RelationProblem[];
}

const kindText = z
  .string()
  .regex(
    /^[A-Z][A-Za-z0-9]*(\.[a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$/,
    'must be Kind or Kind.group, such as Deployment.apps',
  );
const fieldName = z
  .string()
  .regex(/^[a-z][A-Za-z0-9]*$/, 'must begin with a lower case letter and have letters and digits only');
const placeMap = z
  .strictObject({
    at: pathText,
    name: pathText.optional(),
    namespace: pathText.optional(),
    inNamespace: z
      .string()
      .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')
      .optional(),
    kind: pathText.optional(),
    group: pathText.optional(),
    apiVersion: pathText.optional(),
    default: kindText.optional(),
  })
  .refine(
    ({ group, apiVersion }) => group === undefined || apiVersion === undefined,
    'has group and apiVersion; give one',
  )
  .refine(
    ({ namespace, inNamespace }) => namespace === undefined || inNamespace === undefined,
    'has namespace and inNamespace; give one',
  )
  .refine(
    ({ kind, group, apiVersion, default: fallback }) =>
      kind !== undefined || (group === undefined && apiVersion === undefined && fallback === undefined),
    'has group, apiVersion or default without kind',
  );

const declaration = z
  .strictObject({
    from: kindText,
    name: fieldName,
    to: z.union([z.literal('any'), kindText]),
    reverse: fieldName.optional(),
    reverseOn: z.union([z.literal('any'), z.array(kindText).min(1)]).optional(),
    at: z
      .array(z.union([pathText, placeMap]))
      .min(1)
      .optional(),
    selector: pathText.optional(),
    form: z.enum(['map', 'labelSelector']).optional(),
    empty: z.enum(['none', 'all']).optional(),
    labels: pathText.optional(),
    owner: z.literal(true).optional(),
    owns: z.literal(true).optional(),
    template: z.literal(true).optional(),
    one: z.literal(true).optional(),
    weak: z.literal(true).optional(),
  })
  .refine(
    ({ at, selector, owner, owns }) => [at, selector, owner, owns].filter((each) => each !== undefined).length === 1,
    'needs one of at, selector, owner and owns',
  )
  .refine(({ selector, form, empty }) => (selector === undefined) === (form === undefined && empty === undefined), {
    error: 'needs form and empty beside selector, and only there',
  })
  .refine(({ selector, labels }) => labels === undefined || selector !== undefined, 'has labels without selector')
  .refine(
    ({ labels }) => labels === undefined || labels.steps.every(({ kind }) => kind === 'field'),
    'needs a path of fields as labels',
  )
  .refine(({ reverse, reverseOn }) => reverseOn === undefined || reverse !== undefined, 'has reverseOn without reverse')
  .refine(
    ({ to, reverse, reverseOn }) => to !== 'any' || reverse === undefined || reverseOn !== undefined,
    'needs reverseOn, because it may lead to any kind',
  )
  .refine(({ to, reverseOn }) => to === 'any' || reverseOn === undefined, 'has reverseOn, but leads to one kind')
  .refine(
    ({ to, owner, owns }) => to !== 'any' || (owner ?? owns) === undefined,
    'leads to any kind; owner and owns need one',
  );

type Declaration = z.output<typeof declaration>;

const podTemplate = z.strictObject({ kind: kindText, at: pathText });

const relationText = z
  .string()
  .regex(/^[A-Z][A-Za-z0-9]*(\.[-a-z0-9.]+)?\.[a-z][A-Za-z0-9]*$/, 'must be the kind and the name, such as Pod.node');

const document = z.strictObject({
  podTemplates: z.array(z.unknown()).optional(),
  relations: z.array(z.unknown()).default([]),
  off: z.array(relationText).optional(),
});

/** @param value the parsed document. Never throws. */
export function readRelations(value: unknown, origin: RelationOrigin): ReadRelations {
  const problems: RelationProblem[] = [];
  const whole = document.safeParse(value);
  if (!whole.success) {
    const problem = { source: null, declaration: 'the document', message: issuesText(whole.error) };
    return { relations: [], problems: [problem], off: [] };
  }
  const templates = (whole.data.podTemplates ?? []).flatMap((each, index) => {
    const read = podTemplate.safeParse(each);
    if (read.success) return read.data;
    problems.push({ source: null, declaration: `podTemplates ${index + 1}`, message: issuesText(read.error) });
    return [];
  });
  const relations = whole.data.relations.flatMap((each, index) => {
    const report = (message: string): readonly Relation[] => {
      problems.push({ source: sourceOf(each), declaration: labelOf(each, index), message });
      return [];
    };
    const read = declaration.safeParse(each);
    if (!read.success) return report(issuesText(read.error));
    try {
      return relationsOf(read.data, templates, origin);
    } catch (error) {
      return report(messageOf(error));
    }
  });
  return { relations, problems, off: whole.data.off ?? [] };
}

/**
 * Reads the annotation of a CustomResourceDefinition: a YAML list of declarations without `from`, which is the kind of the definition.
 * Never throws.
 */
export function readAnnotation(text: string, kind: NamedKind): ReadRelations {
  const broken = (message: string): ReadRelations => ({
    relations: [],
    problems: [{ source: textOfKind(kind), declaration: 'the annotation', message }],
    off: [],
  });
  let value: unknown;
  try {
    value = parse(text);
  } catch (error) {
    return broken(messageOf(error));
  }
  if (!Array.isArray(value)) return broken('it must be a list of relations');
  const relations = value.map((each: unknown) =>
    typeof each === 'object' && each !== null ? { ...each, from: textOfKind(kind) } : each,
  );
  return readRelations({ relations }, 'ANNOTATION');
}

/** The relation of a declaration, and its copies on the kinds with a Pod template. */
function relationsOf(
  given: Declaration,
  templates: readonly z.output<typeof podTemplate>[],
  origin: RelationOrigin,
): readonly Relation[] {
  const own = relationOf(given, origin);
  if (given.template !== true || own.means.by !== 'reference') return [own];
  const { places } = own.means;
  const copies = templates.map(({ kind, at: prefix }): Relation => {
    const below = places.map((place) => ({ ...place, at: joinPaths(prefix, place.at) }));
    const source = kindOfText(kind);
    return { ...own, source, reverse: null, means: { by: 'reference', places: below }, many: leadsToMany(below) };
  });
  return [own, ...copies];
}

function relationOf(given: Declaration, origin: RelationOrigin): Relation {
  const { from, name, to, reverse = null, reverseOn } = given;
  const target = to === 'any' ? null : kindOfText(to);
  const means = meansOf(given, target);
  return {
    name,
    source: kindOfText(from),
    target,
    reverse,
    reverseOn: reverseOn === 'any' ? 'any' : (reverseOn?.map(kindOfText) ?? (target === null ? [] : [target])),
    many:
      given.one !== true &&
      (means.by === 'selector' || means.by === 'owns' || (means.by === 'reference' && leadsToMany(means.places))),
    means,
    weak: given.weak === true,
    origin,
  };
}

function meansOf({ at, selector, form, empty, labels, owns }: Declaration, target: NamedKind | null): RelationMeans {
  if (selector !== undefined && form !== undefined && empty !== undefined)
    return { by: 'selector', place: { path: selector, form, empty }, labels: labels ?? null };
  if (at === undefined) return { by: owns === true ? 'owns' : 'owner' };
  return { by: 'reference', places: at.map((each) => placeOf(each, target)) };
}

function placeOf(given: Path | z.output<typeof placeMap>, target: NamedKind | null): ReferencePlace {
  if ('steps' in given) {
    if (target === null)
      throw new Error(`The place ${given.text} does not state a kind, and the relation leads to any kind.`);
    return { at: given, name: null, namespace: null, target };
  }
  const { at, name = parsePath('name'), kind, group, apiVersion, default: fallback } = given;
  const namespace = given.inNamespace === undefined ? (given.namespace ?? null) : { constant: given.inNamespace };
  if (kind === undefined) {
    if (target === null)
      throw new Error(`The place ${at.text} does not state a kind, and the relation leads to any kind.`);
    return { at, name, namespace, target };
  }
  const groupAt =
    group !== undefined
      ? { path: group, form: 'group' as const }
      : apiVersion !== undefined
        ? { path: apiVersion, form: 'apiVersion' as const }
        : null;
  return {
    at,
    name,
    namespace,
    target: { kindAt: kind, groupAt, fallback: fallback === undefined ? null : kindOfText(fallback) },
  };
}

/** One place that is not in a list leads to one object at most. */
function leadsToMany(places: readonly ReferencePlace[]): boolean {
  return places.length > 1 || places.some(({ at }) => isThroughLists(at));
}

function labelOf(value: unknown, index: number): string {
  const { from, name } = recordOf(value) ?? {};
  return typeof from === 'string' && typeof name === 'string' ? `${from}.${name}` : `relations ${index + 1}`;
}

function sourceOf(value: unknown): string | null {
  const { from } = recordOf(value) ?? {};
  return kindText.safeParse(from).success ? String(from) : null;
}
