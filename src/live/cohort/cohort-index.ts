/**
 * Finds the cohorts of a kind that changes may concern, without a look at each cohort.
 *
 * A cohort whose filter requires one of some texts at a place is found by the texts at that place before and after a change. A place is
 * the namespace, the name, a label or a path of the type String. Other cohorts are found by every change. Example, with three cohorts:
 *
 *   spec.nodeName = a    found by changes of objects on node a, or that were on it
 *   namespace in (x, y)  found by changes in x and y
 *   label app = a or b   found by changes of objects with one of these labels, or that had one
 *   status.ready > 1     found by every change
 *
 * Invariant: the changes that are found for a cohort bring its clients to the same matches as all changes. A cohort that is not found has no
 * message for the changes.
 */
import type { Scope } from '../../access/scope.ts';
import type { HealthRules } from '../../catalog/health/declared-health.ts';
import { healthOf } from '../../catalog/health/health.ts';
import { leafValueAt, valueAt } from '../../catalog/paths/value-at.ts';
import type { Path } from '../../catalog/tree/path.ts';
import { orderKey } from '../../catalog/values/values.ts';
import { identityValue } from '../../query/evaluate/matches.ts';
import { type Members, membersOfPath } from '../../query/evaluate/members-read.ts';
import type { Filter, Identity } from '../../query/plan/filter.ts';
import type { FeedChange } from '../log/feed-change.ts';
import type { CohortRows } from './cohort-batch.ts';

/** A place in an object. Equal ids mean the same place. */
interface Place {
  readonly id: string;
  /** The members of the body that are read. */
  readonly members: Members;
  /** The text there; null without one. @param body null if the object does not exist. It is read only where it is needed. */
  readonly read: (object: Identity, body: () => unknown) => string | null;
}

interface Required {
  readonly place: Place;
  readonly texts: readonly string[];
}

/** More texts are not worth their entries. */
const mostTexts = 100;

class PlaceIndex<C> {
  readonly place: Place;
  readonly #byText = new Map<string, Set<C>>();

  constructor(place: Place) {
    this.place = place;
  }

  get isEmpty(): boolean {
    return this.#byText.size === 0;
  }

  add(text: string, cohort: C): void {
    const known = this.#byText.get(text);
    if (known === undefined) this.#byText.set(text, new Set([cohort]));
    else known.add(cohort);
  }

  delete(text: string, cohort: C): void {
    const known = this.#byText.get(text);
    known?.delete(cohort);
    if (known?.size === 0) this.#byText.delete(text);
  }

  /** Adds the cohorts that require this text. */
  find(text: string | null, found: Set<C>): void {
    if (text !== null) for (const cohort of this.#byText.get(text) ?? []) found.add(cohort);
  }
}

export class CohortIndex<C extends { readonly rows: CohortRows }> {
  readonly #cohorts = new Set<C>();
  readonly #places = new Map<string, PlaceIndex<C>>();
  readonly #others = new Set<C>();

  /** All cohorts. */
  get cohorts(): ReadonlySet<C> {
    return this.#cohorts;
  }

  add(cohort: C): void {
    this.#cohorts.add(cohort);
    const required = requiredBy(cohort.rows);
    if (required === null) {
      this.#others.add(cohort);
      return;
    }
    const { place, texts } = required;
    const index = this.#places.get(place.id) ?? new PlaceIndex<C>(place);
    this.#places.set(place.id, index);
    for (const text of texts) index.add(text, cohort);
  }

  delete(cohort: C): void {
    this.#cohorts.delete(cohort);
    this.#others.delete(cohort);
    const required = requiredBy(cohort.rows);
    const index = required === null ? undefined : this.#places.get(required.place.id);
    if (required === null || index === undefined) return;
    for (const text of required.texts) index.delete(text, cohort);
    if (index.isEmpty) this.#places.delete(required.place.id);
  }

  /**
   * The cohorts that some of the changes may concern. Each comes with changes of some objects: the objects that may match before or after
   * one of the changes. It gets all changes of these objects.
   */
  find(changes: readonly FeedChange[]): ReadonlyMap<C, readonly FeedChange[]> {
    const [first] = this.#cohorts;
    if (first === undefined || !changes.every((change) => change.continues)) return withAll(this.#cohorts, changes);
    const found = new Map(withAll(this.#others, changes));
    if (this.#places.size === 0) return found;
    for (const ofObject of Map.groupBy(changes, objectOf).values()) {
      for (const cohort of this.#requiredIn(first.rows.key, ofObject)) {
        const known = found.get(cohort) as FeedChange[] | undefined;
        if (known === undefined) found.set(cohort, [...ofObject]);
        else known.push(...ofObject);
      }
    }
    for (const some of found.values()) if (some !== changes) (some as FeedChange[]).sort(bySequence);
    return found;
  }

  /** The cohorts that require one of the texts that an object had. */
  #requiredIn(key: string, changes: readonly FeedChange[]): ReadonlySet<C> {
    const found = new Set<C>();
    for (const change of changes) {
      const { cluster, namespace, name } = change.logged;
      const object: Identity = { cluster, key, namespace, name };
      for (const index of this.#places.values()) {
        const { read, members } = index.place;
        index.find(
          read(object, () => change.before(members)),
          found,
        );
        index.find(
          read(object, () => change.after(members)),
          found,
        );
      }
    }
    return found;
  }
}

function withAll<C>(cohorts: Iterable<C>, changes: readonly FeedChange[]): ReadonlyMap<C, readonly FeedChange[]> {
  return new Map([...cohorts].map((cohort) => [cohort, changes]));
}

/** Equal for changes of objects with the same name, as in fold.ts. */
function objectOf({ logged: { cluster, namespace, name } }: FeedChange): string {
  return `${cluster}\n${namespace ?? ''}\n${name}`;
}

function bySequence(a: FeedChange, b: FeedChange): number {
  return a.logged.seq - b.logged.seq;
}

/** Texts without lone surrogates, as comparisons of the type String have them. */
const byName: Place = { id: 'name', members: [], read: ({ name }) => name.toWellFormed() };
const byNamespace: Place = {
  id: 'namespace',
  members: [],
  read: ({ namespace }) => namespace?.toWellFormed() ?? null,
};

/** The requirements for every match. Null if nothing is known. */
function requiredBy({ filter, scope, health }: CohortRows): Required | null {
  const parts = requirements(filter, health);
  const visible = namespacesOf(scope);
  const all = visible === null ? parts : [...parts, { place: byNamespace, texts: visible }];
  const few = all.filter(({ texts }) => texts.length <= mostTexts);
  // Namespaces are the least selective.
  return few.find(({ place }) => place !== byNamespace) ?? few[0] ?? null;
}

/** The texts that every match of the filter must have one of, by place. */
function requirements(filter: Filter, health: HealthRules | undefined): readonly Required[] {
  switch (filter.kind) {
    case 'and':
      return filter.of.flatMap((part) => requirements(part, health));
    case 'or':
      return ofAlternatives(filter.of.map((part) => requirements(part, health)));
    default: {
      const part = requiredPart(filter, health);
      return part === null ? [] : [part];
    }
  }
}

/** The places that each alternative requires, with the texts of all alternatives. */
function ofAlternatives(alternatives: readonly (readonly Required[])[]): readonly Required[] {
  const [first, ...others] = alternatives;
  if (first === undefined) return [{ place: byNamespace, texts: [] }];
  return first.flatMap(({ place, texts }) => {
    const all = new Set(texts);
    for (const other of others) {
      const same = other.find((required) => required.place.id === place.id);
      if (same === undefined) return [];
      for (const text of same.texts) all.add(text);
    }
    return [{ place, texts: [...all] }];
  });
}

function requiredPart(part: Filter, health: HealthRules | undefined): Required | null {
  switch (part.kind) {
    case 'ids':
      return { place: byName, texts: part.in.map(({ name }) => name.toWellFormed()) };
    case 'namespaces':
      return { place: byNamespace, texts: part.in.map((name) => name.toWellFormed()) };
    case 'labels': {
      const [one] = part.requirements.filter(({ operator }) => operator === 'In');
      if (one === undefined) return null;
      return { place: byLabel(one.key), texts: one.values.map((value) => value.toWellFormed()) };
    }
    case 'compare': {
      const { path, type, operator, ignoreCase, values } = part;
      if (type !== 'String' || ignoreCase || (operator !== 'eq' && operator !== 'in')) return null;
      const texts = (operator === 'in' ? values : values.slice(0, 1)).flatMap((value) => textOf(value) ?? []);
      return { place: byPath(path, health), texts };
    }
    default:
      return null;
  }
}

function byLabel(key: string): Place {
  const steps = [
    ...['metadata', 'labels'].map((name) => ({ kind: 'field' as const, name })),
    { kind: 'key' as const, key },
  ];
  return { id: `label ${key}`, members: ['metadata'], read: (_object, body) => textOf(valueAt(body(), { steps })) };
}

function byPath(path: Path, health: HealthRules | undefined): Place {
  const [first] = path.steps;
  if (first?.kind === 'health') {
    return {
      id: `path ${path.text} ${JSON.stringify(health ?? [])}`,
      members: membersOfPath(path),
      read: (_object, body) => textOf(healthOf(body(), health)[first.name]),
    };
  }
  if (path.text === 'metadata.name') return byName;
  if (path.text === 'metadata.namespace') return byNamespace;
  return {
    id: `path ${path.text}`,
    members: membersOfPath(path),
    read: (object, body) => textOf(identityValue(path, object) ?? leafValueAt(body(), path, 'String')),
  };
}

function textOf(value: unknown): string | null {
  const key = orderKey('String', value);
  return typeof key === 'string' ? key : null;
}

/** The namespaces that have all visible rows; null if rows may be elsewhere. */
function namespacesOf(scope: Scope): readonly string[] | null {
  if (scope.rows !== 'some') return scope.rows === 'none' ? [] : null;
  const parts = [...scope.clusters.values()];
  if (!parts.every((part) => part !== 'all' && part.names.size === 0)) return null;
  return [...new Set(parts.flatMap((part) => (part === 'all' ? [] : [...part.namespaces])))].map((name) =>
    name.toWellFormed(),
  );
}
