/**
 * The oracle of relations: which objects of a world an object leads to, by plain loops over the bodies. It shares no code with the store.
 */

import type { NamedKind, ReferencePlace, Relation, SelectorPlace } from '../../src/catalog/relations/relation.ts';
import type { Path, PathStep } from '../../src/catalog/tree/path.ts';
import type { Identity } from '../../src/query/plan/filter.ts';

type Json = Readonly<Record<string, unknown>>;

export interface WorldObject extends Identity {
  readonly uid: string;
  readonly body: Json;
}

export interface WorldKind extends NamedKind {
  readonly key: string;
  readonly namespaced: boolean;
}

export class PlainJoin {
  readonly #objects: () => readonly WorldObject[];

  constructor(objects: () => readonly WorldObject[]) {
    this.#objects = objects;
  }

  /** The objects of kind `to` that `object`, of the kind that has the relation, leads to. */
  forward(relation: Relation, to: WorldKind, object: WorldObject): WorldObject[] {
    return this.#objects().filter(
      (other) => other.key === to.key && other.cluster === object.cluster && leadsTo(relation, to, object, other),
    );
  }

  /** The objects of kind `source` that lead to `object`, of kind `to`. */
  reverse(relation: Relation, source: WorldKind, to: WorldKind, object: WorldObject): WorldObject[] {
    return this.#objects().filter(
      (other) => other.key === source.key && other.cluster === object.cluster && leadsTo(relation, to, other, object),
    );
  }
}

function leadsTo(relation: Relation, to: WorldKind, object: WorldObject, other: WorldObject): boolean {
  const { means } = relation;
  switch (means.by) {
    case 'owner':
      return list(member(object.body, 'metadata', 'ownerReferences')).some(
        (owner) => member(owner, 'uid') === other.uid,
      );
    case 'owns':
      return leadsTo({ ...relation, means: { by: 'owner' } }, to, other, object);
    case 'reference':
      return means.places.some((place) => mentions(place, object).some((mention) => isNamed(mention, to, other)));
    case 'selector':
      if (object.namespace !== null && other.namespace !== null && object.namespace !== other.namespace) return false;
      return isSelected(
        means.place,
        object.body,
        means.labels === null ? member(other.body, 'metadata', 'labels') : one(other.body, means.labels),
      );
  }
}

interface Mention {
  readonly kind: NamedKind;
  readonly namespace: string;
  readonly name: string;
}

function isNamed({ kind, namespace, name }: Mention, to: WorldKind, other: WorldObject): boolean {
  if (kind.group !== to.group || kind.kind !== to.kind || name !== other.name) return false;
  return !to.namespaced || namespace === other.namespace;
}

function mentions({ at, name, namespace, target }: ReferencePlace, object: WorldObject): Mention[] {
  return valuesIn(object.body, at).flatMap((mention) => {
    const named = name === null ? mention : one(mention, name);
    if (typeof named !== 'string' || named === '' || named.length > 253) return [];
    const stated =
      namespace === null ? undefined : 'constant' in namespace ? namespace.constant : one(mention, namespace);
    const where = typeof stated === 'string' && stated !== '' ? stated : (object.namespace ?? '');
    if (!('kindAt' in target)) return [{ kind: target, namespace: where, name: named }];
    const kind = one(mention, target.kindAt);
    if (typeof kind !== 'string' || kind === '') {
      return target.fallback === null ? [] : [{ kind: target.fallback, namespace: where, name: named }];
    }
    const written = target.groupAt === null ? undefined : one(mention, target.groupAt.path);
    if (typeof written !== 'string') {
      const group = target.fallback?.group ?? '';
      return [{ kind: { group, kind }, namespace: where, name: named }];
    }
    const parts = written.split('/');
    const group = target.groupAt?.form === 'apiVersion' ? (parts.length > 1 ? (parts[0] ?? '') : '') : written;
    return [{ kind: { group, kind }, namespace: where, name: named }];
  });
}

function isSelected({ path, form, empty }: SelectorPlace, body: Json, found: unknown): boolean {
  const selector = one(body, path);
  if (typeof selector !== 'object' || selector === null || Array.isArray(selector)) return false;
  const labels = found as Json | undefined;
  const label = (key: string): unknown => (labels === undefined ? undefined : labels[key]);
  const pairs = Object.entries(form === 'map' ? selector : ((member(selector, 'matchLabels') ?? {}) as Json));
  const expressions = form === 'map' ? [] : list(member(selector, 'matchExpressions'));
  if (pairs.length + expressions.length === 0) return empty === 'all';
  if (!pairs.every(([key, value]) => label(key) === value)) return false;
  return expressions.every((expression) => {
    const value = label(String(member(expression, 'key')));
    const values = list(member(expression, 'values'));
    switch (member(expression, 'operator')) {
      case 'In':
        return values.includes(value);
      case 'NotIn':
        return !values.includes(value);
      case 'Exists':
        return value !== undefined;
      default:
        return value === undefined;
    }
  });
}

function valuesIn(value: unknown, { steps }: Path): unknown[] {
  let found: unknown[] = [value];
  for (const step of steps) found = found.flatMap((each) => below(each, step));
  return found;
}

function one(value: unknown, path: Path): unknown {
  return valuesIn(value, path)[0];
}

function below(value: unknown, step: PathStep): unknown[] {
  if (step.kind === 'each') return list(value);
  const name = step.kind === 'field' ? step.name : step.kind === 'key' ? step.key : null;
  if (name === null) throw new Error(`no place has a step ${step.kind}`);
  if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return [];
  return [(value as Json)[name]];
}

function member(value: unknown, ...names: readonly string[]): unknown {
  let found = value;
  for (const name of names) found = (found as Json | undefined)?.[name];
  return found;
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
