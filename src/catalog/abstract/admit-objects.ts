/**
 * Decides which objects of the kind AbstractKind become abstract kinds (abstract-kind-crd.ts has their definition).
 *
 *   the spec of an object -> an entry as in the file -> an abstract kind of the object's cluster
 *   its name or type is taken -> the object is left out, unless the same list comes from another cluster
 *
 * The kinds of the file come first. The objects follow in the order of creation time, cluster and name.
 * An object is about its own cluster: its author has rights there alone. Objects of several clusters with one name and type are one list.
 * Invariant: an object never changes what an older object or the file declares.
 */
import { messageOf } from '../../base/errors.ts';
import { recordOf } from '../values/displayed-value.ts';
import { compareText } from '../values/values.ts';
import { type AbstractKind, type Column, isNamedAlike } from './abstract-kind.ts';
import { most, type ReadAbstractKinds, readAbstractKinds } from './read-abstract-kinds.ts';

/** An object of the kind AbstractKind. */
export interface KindObject {
  readonly cluster: string;
  readonly name: string;
  /** Creation time, in any unit; null sorts last. */
  readonly created: number | null;
  readonly read: ReadAbstractKinds;
}

export interface ObjectProblem {
  readonly cluster: string;
  /** Of the object. */
  readonly name: string;
  readonly message: string;
}

interface AdmittedKind {
  readonly kind: AbstractKind;
  /** Null for a kind of the file. */
  readonly object: KindObject | null;
}

interface AdmittedObjects {
  /** Those of the file, then one for each object. */
  readonly admitted: readonly AdmittedKind[];
  readonly problems: readonly ObjectProblem[];
}

/** Most characters of an object. */
export const mostObjectText = 256 * 1024;

/** Reads the JSON of an object. Never throws. */
export function readKindObject(text: string): ReadAbstractKinds {
  if (text.length > mostObjectText)
    return { kinds: [], problems: [`it is left out: it has more than ${mostObjectText} characters`] };
  try {
    const { spec = {} } = recordOf(JSON.parse(text, withAllDigits)) ?? {};
    return readAbstractKinds({ abstractKinds: [spec] });
  } catch (error) {
    return { kinds: [], problems: [`it is left out: ${messageOf(error)}`] };
  }
}

/** As in the file: an integer that a number of JavaScript would round is the text of its digits. */
function withAllDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? '';
  return /^-?[0-9]+$/.test(source) ? source : value;
}

export function admitObjects(ofFile: readonly AbstractKind[], objects: readonly KindObject[]): AdmittedObjects {
  const admitted: AdmittedKind[] = ofFile.map((kind) => ({ kind, object: null }));
  const problems: ObjectProblem[] = [];
  for (const object of objects.toSorted(byAge)) {
    const { cluster, name, read } = object;
    const report = (message: string): void => void problems.push({ cluster, name, message });
    for (const problem of read.problems) report(problem);
    const [given] = read.kinds;
    if (given === undefined) continue;
    const kind: AbstractKind = { ...given, cluster };
    const alike = admitted.filter((other) => isNamedAlike(other.kind, kind));
    const taken = alike.flatMap(({ kind: other, object: of }) => {
      const why = conflictOf(kind, other);
      if (why === null) return [];
      // Who reads the diagnostics of a cluster may have no rights in another one.
      const owner =
        of === null
          ? 'the file of --abstract-kinds'
          : of.cluster === cluster
            ? `the AbstractKind ${of.name}`
            : 'an AbstractKind of another cluster';
      return [`the abstract kind ${kind.name} is left out: ${why} in ${owner}, which comes first`];
    });
    const lists = new Set(admitted.map(({ kind: { name: list } }) => list));
    if (taken[0] !== undefined) report(taken[0]);
    else if (columnsOf([kind, ...alike.map((each) => each.kind)]).size > most.columns)
      report(
        `the abstract kind ${kind.name} is left out: with those of other clusters, it has more than ${most.columns} columns`,
      );
    else if (!lists.has(kind.name) && lists.size >= most.kinds)
      report(`the abstract kind ${kind.name} is left out: there are ${most.kinds} abstract kinds already`);
    else admitted.push({ kind, object });
  }
  return { admitted, problems };
}

/** Why the kind cannot be beside another one of its name or type; null if both are one list over two clusters. */
function conflictOf(kind: AbstractKind, other: AbstractKind): string | null {
  const isOther = other.cluster !== undefined && other.cluster !== kind.cluster;
  if (!isOther || other.name !== kind.name || other.type !== kind.type) return `${other.name} (${other.type}) is`;
  const types = new Map(other.columns.map((column) => [column.name, typeText(column)]));
  const column = kind.columns.find((each) => (types.get(each.name) ?? typeText(each)) !== typeText(each));
  return column === undefined ? null : `its column ${column.name} has the type ${types.get(column.name)}`;
}

/** An Enum is a type of its own with its values. */
function typeText({ type, isEnum, values = [] }: Column): string {
  return isEnum === true ? `Enum of ${values.join(', ')}` : type;
}

function columnsOf(kinds: readonly AbstractKind[]): ReadonlySet<string> {
  return new Set(kinds.flatMap(({ columns }) => columns.map(({ name }) => name)));
}

function byAge(a: KindObject, b: KindObject): number {
  const [first, second] = [a.created ?? Number.POSITIVE_INFINITY, b.created ?? Number.POSITIVE_INFINITY];
  if (first !== second) return first - second;
  return compareText(a.cluster, b.cluster) || compareText(a.name, b.name);
}
