/**
 * Reads the file of --abstract-kinds.
 *
 *   parsed YAML -> each kind and each member is validated by itself -> abstract kinds, and a problem for each part that is wrong
 *
 * Invariant: a wrong column of a member costs that value only, a wrong member that member, a wrong kind that kind. The caller reports the
 * problems.
 */
import { z } from 'zod';
import { issuesText } from '../../base/text/issues-text.ts';
import { upperFirst } from '../../base/text/upper-first.ts';
import { isAbstractKey } from '../groups/api-group.ts';
import { when } from '../health/read-health-rules.ts';
import { injectedFields } from '../names/reserved-names.ts';
import { bodyPath } from '../paths/path-text.ts';
import {
  type AbstractKind,
  type Column,
  columnTypes,
  isNamedAlike,
  type Member,
  type Scalar,
  type Source,
} from './abstract-kind.ts';
import { fitted } from './derive-object.ts';

export interface ReadAbstractKinds {
  readonly kinds: readonly AbstractKind[];
  /** One sentence for each part that cannot be used; it names the part. */
  readonly problems: readonly string[];
}

/** Bounds of a file: each object of a member is evaluated by it. */
export const most = { kinds: 50, members: 100, columns: 32, sources: 16, values: 200, depth: 4 } as const;

const scalar = z.union([z.string(), z.number(), z.boolean()], 'must be a text, a number, true or false');
const sourcePath = bodyPath.transform(({ text }): Source => ({ path: text }));

function source(depth: number): z.ZodType<Source> {
  const value = z.strictObject({ value: scalar });
  const forms =
    depth === 0
      ? value
      : z.union(
          [value, ...nested(source(depth - 1))],
          'must be a path, or one of value, firstOf, concat, and of with map',
        );
  // The error of a text says why it is no path.
  return z.unknown().transform((given, context): Source => {
    const read = typeof given === 'string' ? sourcePath.safeParse(given) : forms.safeParse(given);
    if (read.success) return read.data as Source;
    for (const { message, path } of read.error.issues) context.addIssue({ code: 'custom', message, path: [...path] });
    return z.NEVER;
  });
}

function nested(inner: z.ZodType<Source>) {
  const several = z.array(inner).min(1).max(most.sources);
  const map = z
    .record(z.string(), scalar)
    .refine((entries) => Object.keys(entries).length <= most.values, `has more than ${most.values} values`)
    .transform((entries) =>
      Object.fromEntries(Object.entries(entries).map(([from, to]): [string, Scalar] => [from.toLowerCase(), to])),
    );
  return [
    z.strictObject({ firstOf: several }),
    z.strictObject({ concat: several }),
    z.strictObject({ of: inner, map, otherwise: scalar.optional() }),
  ] as const;
}

const name = z
  .string()
  .regex(/^[a-z][A-Za-z0-9]*$/, 'must begin with a lower case letter and have letters and digits only');
/** `Int64`, or `{ type: Enum, values: [Running, Broken] }`. */
const column = z.preprocess(
  (given) => (typeof given === 'string' ? { type: given } : given),
  z
    .strictObject({
      type: z.enum([...columnTypes, 'Enum']),
      description: z.string().optional(),
      values: z.array(z.string()).min(1).max(most.values).optional(),
    })
    .superRefine((given, context) => {
      const message = valuesProblem(given);
      if (message !== null) context.addIssue({ code: 'custom', message });
    })
    .transform(({ type, ...rest }) =>
      type === 'Enum' ? { ...rest, type: 'String', isEnum: true } : { ...rest, type },
    ),
);
const member = z.strictObject({
  resource: z
    .string()
    .regex(/^[a-z0-9-]+(\.[-a-z0-9.]+)?$/, 'must be plural.group, such as redises.cache.example.com, or a plural')
    .refine((key) => !isAbstractKey(key), 'is an abstract kind, which cannot be a member'),
  where: when.optional(),
  labels: z
    .strictObject({
      matchLabels: z.record(z.string(), z.string()).optional(),
      matchExpressions: z.array(z.unknown()).optional(),
    })
    .optional(),
  columns: z.record(z.string(), z.unknown()).default({}),
});
const kind = z.strictObject({
  name,
  type: z
    .string()
    .regex(/^[A-Z][A-Za-z0-9]*$/, 'must begin with a capital and have letters and digits only')
    .optional(),
  description: z.string().optional(),
  columns: z.record(z.string(), z.unknown()),
  members: z.array(z.unknown()).min(1),
});
const document = z.strictObject({ abstractKinds: z.array(z.unknown()).max(most.kinds).nullable().default([]) });

/** Names that every object has. */
const reserved: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'metadata',
  'id',
  'cluster',
  'member',
  'health',
  'object',
]);

/** @param parsed the parsed YAML; null for an empty document. */
export function readAbstractKinds(parsed: unknown): ReadAbstractKinds {
  const problems: string[] = [];
  const read = document.safeParse(parsed ?? {});
  if (!read.success) return { kinds: [], problems: [`the document is left out: ${issuesText(read.error)}`] };
  const kinds: AbstractKind[] = [];
  for (const [at, each] of (read.data.abstractKinds ?? []).entries()) {
    const found = kind.safeParse(each);
    const what = `the abstract kind ${textAt(each, 'name') ?? `number ${at + 1}`}`;
    if (!found.success) {
      problems.push(`${what} is left out: ${issuesText(found.error)}`);
      continue;
    }
    const made = kindOf(found.data, what, problems);
    const same = made === null ? undefined : kinds.find((other) => isNamedAlike(other, made));
    if (same !== undefined) problems.push(`${what} is left out: its name or type is that of ${same.name}`);
    else if (made !== null) kinds.push(made);
  }
  return { kinds, problems };
}

/** Why a column of this type may not have these values; null if it may. */
function valuesProblem({ type, values }: { readonly type: string; readonly values?: readonly string[] | undefined }) {
  if (type === 'String') return null;
  if (type !== 'Enum') return values === undefined ? null : 'has values, but is not of the type String or Enum';
  if (values === undefined) return 'needs values: the names that it may have';
  const wrong = values.find((value) => !enumValue.test(value));
  if (wrong !== undefined)
    return `has the value ${JSON.stringify(wrong)}: a value of an enum has letters of ASCII, digits and _ only, begins with none of 0-9 and __, and is not true, false or null`;
  const again = values.find((value, at) => values.indexOf(value) < at);
  return again === undefined ? null : `has the value ${again} twice`;
}

/** The names that GraphQL takes as values of an enum. Names with `__` belong to introspection. */
const enumValue = /^(?!__|(?:true|false|null)$)[A-Za-z_][A-Za-z0-9_]*$/;

function kindOf(given: z.output<typeof kind>, what: string, problems: string[]): AbstractKind | null {
  const columns: Column[] = [];
  for (const [columnName, each] of Object.entries(given.columns)) {
    const found = column.safeParse(each);
    const problem =
      reserved.has(columnName) || injectedFields.has(columnName)
        ? 'every object has a field of this name'
        : !/^[A-Za-z][A-Za-z0-9_]*$/.test(columnName)
          ? 'its name must begin with a letter of ASCII and have letters, digits and _ only'
          : columns.length === most.columns
            ? `a kind has at most ${most.columns} columns`
            : found.success
              ? null
              : issuesText(found.error);
    if (found.success && problem === null) columns.push(plain({ ...found.data, name: columnName }) as Column);
    else problems.push(`the column ${columnName} of ${what} is left out: ${problem}`);
  }
  const members: Member[] = [];
  for (const [at, each] of given.members.entries()) {
    const found = member.safeParse(each);
    const of = `the member ${textAt(each, 'resource') ?? `number ${at + 1}`} of ${what}`;
    if (members.length === most.members) problems.push(`${of} is left out: a kind has at most ${most.members} members`);
    else if (!found.success) problems.push(`${of} is left out: ${issuesText(found.error)}`);
    else if (members.some(({ resource }) => resource === found.data.resource))
      problems.push(`${of} is left out: it is there twice`);
    else members.push(memberOf(found.data, columns, of, problems));
  }
  if (columns.length === 0 || members.length === 0) {
    problems.push(`${what} is left out: it needs a column and a member that can be used`);
    return null;
  }
  const { name: list, type = upperFirst(list.replace(/s$/, '')), description } = given;
  return { name: list, type, ...(description === undefined ? {} : { description }), columns, members };
}

function memberOf(
  given: z.output<typeof member>,
  columns: readonly Column[],
  what: string,
  problems: string[],
): Member {
  const sources: Record<string, Source> = {};
  for (const [columnName, each] of Object.entries(given.columns)) {
    const column = columns.find((known) => known.name === columnName);
    if (column === undefined) {
      problems.push(`the value ${columnName} of ${what} is left out: there is no such column`);
      continue;
    }
    const found = sourceOf.safeParse(each);
    const constant = found.success
      ? constantsOf(found.data).find((value) => fitted(column, value) === undefined)
      : undefined;
    if (constant !== undefined)
      problems.push(
        `the value ${columnName} of ${what} is left out: ${JSON.stringify(constant)} does not fit the column`,
      );
    else if (found.success) sources[columnName] = found.data;
    else problems.push(`the value ${columnName} of ${what} is left out: ${issuesText(found.error)}`);
  }
  const { resource, where = [], labels } = given;
  return plain({ resource, where, ...(labels === undefined ? {} : { labels }), columns: sources }) as Member;
}

/** The constants that may become the value of a column. */
function constantsOf(of: Source): readonly Scalar[] {
  if ('value' in of) return [of.value];
  if ('firstOf' in of) return of.firstOf.flatMap(constantsOf);
  if ('map' in of) return [...Object.values(of.map), ...(of.otherwise === undefined ? [] : [of.otherwise])];
  return [];
}

const sourceOf = source(most.depth);

/** Without members that are undefined. */
function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

function textAt(value: unknown, key: string): string | null {
  const found = (value as Readonly<Record<string, unknown>> | null)?.[key];
  return typeof found === 'string' ? found : null;
}
