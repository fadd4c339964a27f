/** Resolves a path against a field tree. */
import { PortolanError } from '../../base/errors.ts';
import { must } from '../../base/must.ts';
import { castType, type ValueCast } from '../tree/cast.ts';
import { type FieldTree, type FieldType, type LeafType, type Shape, shapeOf } from '../tree/field-tree.ts';
import { isDerived, type ListFold, type Path, type PathStep, pathOf } from '../tree/path.ts';
import { foldedType } from '../values/fold-values.ts';
import { didYouMean } from './did-you-mean.ts';

export interface ResolvedPath {
  readonly type: FieldType;
  /** True when the path goes through every element of a list, so that it may have several values. */
  readonly many: boolean;
  /**
   * The path in canonical spelling: plain field names are unquoted, map keys are quoted. Use this one wherever paths are compared
   * as text (promoted columns, fingerprints).
   */
  readonly path: Path;
}

const json: FieldType = { kind: 'leaf', type: 'JSON' };
const text: FieldType = { kind: 'leaf', type: 'String' };

/**
 * The field or leaf at the path. Below free JSON every step is allowed and results in JSON, as does an unknown field of an open
 * shape. A name after a map is its key.
 * @param from the start of a relative path; default is the kind's root.
 * @param cast the leaf has the type of this cast
 * @throws PortolanError BAD_USER_INPUT naming the first invalid step, or a value that cannot be cast.
 */
export function resolvePath(tree: FieldTree, path: Path, from?: FieldType, cast?: ValueCast): ResolvedPath {
  const [first] = path.steps;
  if (first?.kind === 'several') return resolveSeveral(tree, path, first.of, from, cast);
  let type: FieldType = from ?? { kind: 'object', shape: tree.root };
  let many = false;
  const steps: PathStep[] = [];
  for (const step of path.steps) {
    const next = take(tree, type, step, path, steps);
    type = next.type;
    steps.push(next.step);
    if (step.kind === 'each') many = true;
  }
  if (cast !== undefined) type = castLeaf(cast, type, path);
  else if (type.kind === 'leaf') type = { ...type, type: comparedType(type.type, pathOf(steps)) };
  if (path.fold === undefined) return { type, many, path: pathOf(steps) };
  return { type: foldedLeaf(path.fold, type, many, path), many: false, path: pathOf(steps, path.fold) };
}

/** The least or greatest of the values at several paths, whose leaves have one type. */
function resolveSeveral(
  tree: FieldTree,
  path: Path,
  paths: readonly Path[],
  from: FieldType | undefined,
  cast: ValueCast | undefined,
): ResolvedPath {
  const fold = must(path.fold, 'several paths have a fold');
  const found = paths.map((each) => resolvePath(tree, each, from, cast));
  const types = new Set(found.map(({ type }) => (type.kind === 'leaf' ? type.type : type.kind)));
  const [first] = found;
  if (first === undefined || types.size > 1) {
    throw refuseFold(path, `needs paths of one type, and these are ${[...types].join(', ')}`);
  }
  const list = found.find(({ many }) => many);
  if (list !== undefined) throw refuseFold(path, `takes no path through a list beside others, as ${list.path.text} is`);
  const step: PathStep = { kind: 'several', of: found.map((each) => each.path) };
  return { type: foldedLeaf(fold, first.type, true, path), many: false, path: pathOf([step], fold) };
}

/** The type by which the leaf at a path is compared: the resource version of an object is no plain text. */
export function comparedType(type: LeafType, { text }: Pick<Path, 'text'>): LeafType {
  return type === 'String' && text === 'metadata.resourceVersion' ? 'ResourceVersion' : type;
}

/** The leaf as a cast reads it. An object, a map and a list do not change. */
function castLeaf(cast: ValueCast, type: FieldType, path: Path): FieldType {
  if (type.kind !== 'leaf') return type;
  const to = isDerived(path) || path.fold === 'count' ? null : castType(cast, type.type);
  if (to !== null) return { kind: 'leaf', type: to };
  const of = path.fold === 'count' ? 'a number of values' : isDerived(path) ? 'computed' : type.type;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `as: ${cast} does not apply to ${path.text}, which is ${of}; leave it out.`,
    {
      details: { path: path.text },
    },
  );
}

/** The leaf that the values at the path come to. */
function foldedLeaf(fold: ListFold, type: FieldType, many: boolean, path: Path): FieldType {
  if (!many) throw refuseFold(path, `needs a path through a list, with []`);
  const leaf = type.kind === 'leaf' ? type.type : 'JSON';
  const folded = foldedType(fold, leaf);
  if (folded !== null && (type.kind === 'leaf' || fold === 'count')) return { kind: 'leaf', type: folded };
  const what = fold === 'sum' ? 'numbers, quantities or durations' : 'values that can be compared';
  throw refuseFold(path, `needs ${what}, and these are ${type.kind === 'leaf' ? type.type : `each ${type.kind}`}`);
}

function refuseFold({ text, fold }: Path, why: string): PortolanError {
  return new PortolanError('BAD_USER_INPUT', `In the path ${JSON.stringify(text)}, ${fold} ${why}.`, {
    details: { path: text },
  });
}

interface Taken {
  readonly type: FieldType;
  readonly step: PathStep;
}

function take(tree: FieldTree, type: FieldType, step: PathStep, path: Path, before: readonly PathStep[]): Taken {
  if (step.kind === 'health') return { type: text, step };
  if (step.kind === 'rollUp') return { type: step.name === 'status' ? text : { kind: 'leaf', type: 'Int' }, step };
  switch (type.kind) {
    case 'leaf':
      if (type.type === 'JSON') return { type: json, step: asField(step) };
      throw refuse(path, before, step, `is below a value (${type.type})`, keyHint(path, before, step));
    case 'stringMap':
    case 'map': {
      const key = step.kind === 'key' ? step.key : step.kind === 'field' ? step.name : null;
      if (key === null)
        throw refuse(path, before, step, 'cannot follow a map', 'write a key in quotes, as in labels["app"]');
      return { type: type.kind === 'map' ? type.of : text, step: { kind: 'key', key } };
    }
    case 'list':
      return { type: element(tree, type.of, step, path, before), step };
    case 'object':
      return field(tree, shapeOf(tree, type.shape), step, path, before);
  }
}

function element(tree: FieldTree, of: FieldType, step: PathStep, path: Path, before: readonly PathStep[]): FieldType {
  if (step.kind === 'each' || step.kind === 'index') return of;
  if (step.kind !== 'where') {
    throw refuse(path, before, step, 'cannot follow a list', 'write [] for every element, [0] for one or [name=value]');
  }
  if (of.kind === 'leaf' && of.type === 'JSON') return of;
  if (of.kind !== 'object') throw refuse(path, before, step, 'needs a list of objects');
  const member = field(tree, shapeOf(tree, of.shape), { kind: 'field', name: step.field }, path, before);
  if (member.type.kind !== 'leaf') throw refuse(path, before, step, `needs a plain value in "${step.field}"`);
  return of;
}

function field(tree: FieldTree, shape: Shape, step: PathStep, path: Path, before: readonly PathStep[]): Taken {
  const name = step.kind === 'field' ? step.name : step.kind === 'key' ? step.key : null;
  if (name === null) throw refuse(path, before, step, 'cannot follow an object', 'it is no list');
  const found = shape.fields.find((candidate) => candidate.name === name);
  if (found !== undefined) return { type: found.type, step: { kind: 'field', name } };
  if (shape.open === true) return { type: json, step: { kind: 'field', name } };
  const near = didYouMean(name, namesOf(shape)) ?? below(tree, shape, name);
  throw refuse(path, before, step, 'is unknown', near === null ? knownNames(shape) : `did you mean "${near}"?`);

  function* namesOf(of: Shape): Iterable<string> {
    for (const candidate of of.fields) yield candidate.name;
  }
}

/** The field of this name one step below: `metadata.name` for `name`. */
function below(tree: FieldTree, shape: Shape, name: string): string | null {
  const found = shape.fields.find(({ type }) => {
    return type.kind === 'object' && shapeOf(tree, type.shape).fields.some((each) => each.name === name);
  });
  return found === undefined ? null : `${found.name}.${name}`;
}

function knownNames(shape: Shape): string {
  if (shape.fields.length === 0) return 'it has no fields';
  const names = shape.fields.slice(0, 12).map((candidate) => candidate.name);
  return `it has ${names.join(', ')}${shape.fields.length > names.length ? ', …' : ''}`;
}

/** `labels.app.kubernetes.io/name` parses as the key "app" with fields below. The hint suggests the quoted key. */
function keyHint(path: Path, before: readonly PathStep[], step: PathStep): string | undefined {
  const last = before.at(-1);
  if (last?.kind !== 'key' || step.kind !== 'field') return undefined;
  const map = pathOf(before.slice(0, -1)).text;
  const rest = path.steps.slice(before.length).map((each) => (each.kind === 'field' ? each.name : ''));
  return `a key with dots is written in quotes: ${map}["${[last.key, ...rest].join('.')}"]`;
}

function asField(step: PathStep): PathStep {
  return step.kind === 'key' ? { kind: 'field', name: step.key } : step;
}

function refuse(path: Path, before: readonly PathStep[], step: PathStep, why: string, hint?: string): PortolanError {
  const place = before.length === 0 ? '' : ` after ${JSON.stringify(pathOf(before).text)}`;
  const shown = pathOf([step]).text;
  return new PortolanError(
    'BAD_USER_INPUT',
    `In the path ${JSON.stringify(path.text)}, ${JSON.stringify(shown)}${place} ${why}${hint === undefined ? '.' : `; ${hint}${hint.endsWith('?') ? '' : '.'}`}`,
    { details: { path: path.text, step: shown, index: before.length } },
  );
}
