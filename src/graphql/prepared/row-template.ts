/**
 * Collects the paths that a page template (src/store/pages/page-template.ts) reads from bodies, while answer-plan.ts walks the selection.
 *
 *   nodes { metadata { name labels } first: metadata { name } }     values: [["metadata", "labels"]], each path once
 *
 * `name` is a column and needs no path.
 */
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { HealthName } from '../../catalog/tree/path.ts';
import { objectIdParts } from '../../query/plan/object-id.ts';
import { firstKeyColumn, pageColumns } from '../../store/pages/page-columns.ts';
import type { PageProjection } from '../../store/pages/page-select.ts';
import type { PageTemplate, RelatedTemplate, RowPart, ValueShape } from '../../store/pages/page-template.ts';
import type { PlainField } from '../selection/field-facts.ts';

/** Thrown for a document that cannot be planned; never leaves the planner. */
export class NotPlain extends Error {}

/** The most values and objects of one template. With about as many, the executor reads whole bodies too. */
const mostValues = 100;
const mostObjects = 30;
/** How often a row may show one value. The executor counts its characters each time, and stops at the bound of an answer. */
const mostRepeats = 4;

type Names = readonly string[];

/** Counts how often values are shown. */
export class Repeats {
  readonly #times = new Map<string, number>();

  /** @throws NotPlain for a value that is shown too often */
  add(name: string): void {
    const times = (this.#times.get(name) ?? 0) + 1;
    if (times > mostRepeats) throw new NotPlain();
    this.#times.set(name, times);
  }
}

/** The paths that the rows of one page read from bodies, each path once. */
export class RowTemplate {
  readonly values: Names[] = [];
  readonly objects: Names[] = [];
  readonly related: RelatedTemplate[] = [];
  versions = false;
  readonly health: HealthName[] = [];
  ids = false;
  /** The number of columns up to the last order key. */
  readonly #keysEnd: number;
  readonly #shows = new Repeats();
  readonly #valueAt = new Map<string, number>();
  readonly #objectAt = new Map<string, number>();

  /** @param keys the number of the list's order keys. */
  constructor(keys: number) {
    this.#keysEnd = firstKeyColumn + keys;
  }

  /** The parts of each object that the selection reads. */
  get projection(): PageProjection {
    const { values, objects, versions, health, ids } = this;
    return { values, objects, versions, health, ids };
  }

  /** @param lists the parts of a row in each list. @param ends the parts of the first and of the last row's cursor. */
  template(lists: PageTemplate['lists'], { first, last }: Pick<PageTemplate, 'first' | 'last'>): PageTemplate {
    const { values, objects, related, ids } = this;
    const columns = this.#keysEnd + this.health.length + (ids ? 1 : 0);
    return { lists, first, last, columns, idAt: ids ? columns - 1 : null, values, objects, related };
  }

  /** The part that writes the pages of a related template. Lines have the id as their last column then. */
  relatedPages(template: RelatedTemplate): RowPart {
    this.ids = true;
    return { is: 'related', at: this.related.push(template) - 1 };
  }

  /** The part that writes a part of the object's health. Its columns follow the order keys. */
  healthPart(of: HealthName): RowPart {
    const known = this.health.indexOf(of);
    const at = known === -1 ? this.health.push(of) - 1 : known;
    return { is: 'column', at: this.#keysEnd + at, otherwise: 'null' };
  }

  value(path: Names, shape: ValueShape): RowPart {
    const part = shape.is === 'entry' ? shape.name : shape.is === 'first' ? shape.equal : null;
    this.#shows.add(JSON.stringify([path, part]));
    return { is: 'value', at: indexOf(this.#valueAt, this.values, path, mostValues), shape };
  }

  object(path: Names, of: readonly RowPart[]): RowPart {
    return { is: 'object', at: indexOf(this.#objectAt, this.objects, path, mostObjects), of };
  }
}

/**
 * The index of the path in `paths`, to which a new path is added.
 * @throws NotPlain for one path more than `most`, and for a name that a JSON path cannot hold.
 */
function indexOf(known: Map<string, number>, paths: Names[], path: Names, most: number): number {
  const key = JSON.stringify(path);
  const at = known.get(key) ?? paths.length;
  if (at === paths.length) {
    // A JSON path of SQLite has no escapes inside a quoted name.
    if (at === most || path.some((name) => /["\\\p{Cc}\p{Cs}]/u.test(name))) throw new NotPlain();
    paths.push(path);
    known.set(key, at);
  }
  return at;
}

/** The parts that write a part of the object's identity. */
export function identityParts(
  kind: CatalogKind,
  of: Extract<PlainField, { is: 'identity' }>['of'],
  rows: RowTemplate,
): readonly RowPart[] {
  switch (of) {
    case 'id':
      return objectIdParts(kind.key);
    case 'uid':
      rows.versions = true;
      return [{ is: 'uid', at: pageColumns.uid }];
    case 'resourceVersion':
      rows.versions = true;
      return [{ is: 'version', at: pageColumns.resourceVersion }];
    case 'namespace':
      return [{ is: 'column', at: pageColumns.namespace, otherwise: 'null' }];
    case 'cluster':
    case 'name':
      return [{ is: 'column', at: pageColumns[of], otherwise: '""' }];
  }
}
