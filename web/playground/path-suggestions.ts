/** The paths that complete what is written of one. */

/** A leaf of a kind, as `resources { fields }` has it. */
export interface PathField {
  readonly path: string;
  readonly type: string;
}

interface Suggestion {
  /** The whole path, as a person reads it. */
  readonly label: string;
  /** The text for the string of the document: quotes are escaped. `$0` is where the cursor goes, if it is not the end. */
  readonly insert: string;
  /** The type of its values. */
  readonly type: string;
}

/** Paths that every object has beside its fields. */
const derived: readonly PathField[] = [
  { path: 'health.status', type: 'String' },
  { path: 'health.reason', type: 'String' },
  { path: 'cluster', type: 'String' },
  { path: 'id', type: 'ID' },
];

const fold = /^(?:sum|min|max|count)\(/;

/**
 * The paths of these fields, spelled as `written` begins.
 *
 *   written                          suggested
 *   status.                          every path: the editor keeps those that fit
 *   spec.containers[0].              the paths of a container, with [0]
 *   status.conditions[type=Ready].   the paths of a condition, with [type=Ready]
 *   sum(                             the paths through lists, in sum( )
 */
export function suggestPaths(fields: readonly PathField[], written: string): readonly Suggestion[] {
  const folded = fold.exec(written)?.[0] ?? '';
  const respell = respeller(written.slice(folded.length));
  const known = folded === '' ? [...derived, ...fields, ...conditionFields(fields)] : fields.filter(isThroughList);
  return known.flatMap(({ path, type }) => {
    const spelled = respell(path);
    const made = (text: string, insert: string, of: string): Suggestion =>
      folded === ''
        ? { label: text, insert, type: of }
        : { label: `${folded}${text})`, insert: `${folded}${insert})`, type: of };
    const whole = made(spelled, snippet(spelled), type);
    const entry = entryTypes[type];
    if (entry === undefined) return [whole];
    const quoted = `${spelled}['…']`;
    return [whole, made(quoted, `${snippet(spelled)}['$0']`, entry)];
  });
}

/** The type of one entry of a map, by the type of the map. */
const entryTypes: Readonly<Record<string, string>> = { StringMap: 'String', QuantityMap: 'Quantity', JSON: 'JSON' };

/** Writes the lists of a path as `written` has them: `[0]` or `[type=Ready]` in place of `[]`. */
function respeller(written: string): (path: string) => string {
  const last = [...written.matchAll(/\[(?:\d*|[\w-]+=[^\]]*)\]/g)].at(-1);
  if (last === undefined) return (path) => path;
  const head = written.slice(0, last.index + last[0].length);
  const plain = head.replace(/\[(?:\d+|[\w-]+=[^\]]*)\]/g, '[]');
  return (path) => (path.startsWith(plain) ? `${head}${path.slice(plain.length)}` : path);
}

/** For lists of conditions, the entry of one type: `status.conditions[type=Ready].status`. */
function conditionFields(fields: readonly PathField[]): readonly PathField[] {
  const paths = new Set(fields.map(({ path }) => path));
  return fields.flatMap(({ path, type }) => {
    const list = path.slice(0, path.lastIndexOf('[].') + 1);
    const isCondition = list !== '' && paths.has(`${list}].type`) && paths.has(`${list}].status`);
    if (!isCondition || path.endsWith('[].type')) return [];
    return [{ path: `${list}type=Ready${path.slice(list.length)}`, type }];
  });
}

function isThroughList({ path }: PathField): boolean {
  return path.includes('[]');
}

/** The path inside a GraphQL string and a snippet of the editor. A JSON string in a path gets escaped quotes. */
function snippet(path: string): string {
  return path.replaceAll(/[\\"]/g, String.raw`\$&`).replaceAll(/[\\$}]/g, String.raw`\$&`);
}

/** The fields that all kinds have, in the order of the first. */
export function commonFields(kinds: readonly (readonly PathField[])[]): readonly PathField[] {
  const [first = [], ...others] = kinds;
  const sets = others.map((fields) => new Set(fields.map(({ path }) => path)));
  return first.filter(({ path }) => sets.every((set) => set.has(path)));
}
