/** What a page template (src/store/pages/page-template.ts) reads of bodies, gathered while the selection is walked (answer-plan.ts). */
import type { RowPart, ValueShape } from '../../store/pages/page-template.ts';

/** Said where a document is not of the closed world; never leaves the planner. */
export class NotPlain extends Error {}

/** A page's template may have so many values and objects; the executor reads whole bodies from about there on, too. */
const mostValues = 100;
const mostObjects = 30;

type Names = readonly string[];

/** What the rows of one page need of bodies, each place once. */
export class RowTemplate {
  readonly values: Names[] = [];
  readonly objects: Names[] = [];
  versions = false;
  readonly #valueAt = new Map<string, number>();
  readonly #objectAt = new Map<string, number>();

  value(path: Names, shape: ValueShape): RowPart {
    return { is: 'value', at: place(this.#valueAt, this.values, path, mostValues), shape };
  }

  object(path: Names, of: readonly RowPart[]): RowPart {
    return { is: 'object', at: place(this.#objectAt, this.objects, path, mostObjects), of };
  }
}

/** The number of the path among those that are read. */
function place(known: Map<string, number>, paths: Names[], path: Names, most: number): number {
  const key = JSON.stringify(path);
  const at = known.get(key) ?? paths.length;
  if (at === paths.length) {
    // In a JSON path, a name stands between quotes as it is.
    if (at === most || path.some((name) => /["\\\p{Cc}\p{Cs}]/u.test(name))) throw new NotPlain();
    paths.push(path);
    known.set(key, at);
  }
  return at;
}
