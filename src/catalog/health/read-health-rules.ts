/**
 * Reads health rules: schema/health-rules.yaml, or the file of --health-rules.
 *
 *   parsed YAML -> each rule is validated by itself -> rules by kind, and a problem for each rule that is wrong
 *
 * Invariant: a wrong rule costs that rule only. The caller reports the problems.
 */
import { z } from 'zod';
import { issuesText } from '../../base/text/issues-text.ts';
import { namePattern } from '../../base/text/name-pattern.ts';
import { bodyPath } from '../paths/path-text.ts';
import type { Path } from '../tree/path.ts';
import type { DeclaredHealth, HealthRules } from './declared-health.ts';
import { isPath } from './declared-rule.ts';
import { healthStatuses } from './health-status.ts';

/** A rule of a file. */
interface HealthRuleFor {
  /** As it is written: `Kind`, `Kind.group`, with `*` for any text. */
  readonly kind: string;
  readonly pattern: RegExp;
  readonly declared: DeclaredHealth;
}

export interface ReadHealthRules {
  readonly rules: readonly HealthRuleFor[];
  /** One sentence for each rule that cannot be used; it names the rule. */
  readonly problems: readonly string[];
}

/** Bounds of one rule: each object of its kind is read by it. */
export const most = { rules: 2000, cases: 64, tests: 8, values: 64 } as const;

/** The path of a body, in canonical spelling. */
const plainPath = bodyPath
  .refine(({ fold }) => fold === undefined, {
    error: ({ input }) => `${(input as Path).text} is computed from a list; give a path of the object`,
  })
  .transform(({ text }) => text);
const scalar = z
  .union([z.string(), z.number(), z.boolean()], 'must be a text, a number, true or false')
  .transform((value) => String(value).toLowerCase());
const texts = z.union([scalar.transform((text) => [text]), z.array(scalar).min(1).max(most.values)]);
const number = z.union([z.number(), plainPath]);
const test = z.union([
  texts.transform((oneOf) => ({ oneOf })),
  z
    .strictObject({
      oneOf: texts.optional(),
      not: texts.optional(),
      startsWith: texts.optional(),
      exists: z.boolean().optional(),
      lessThan: number.optional(),
      greaterThan: number.optional(),
    })
    .refine((each) => Object.keys(each).length > 0, 'says nothing')
    .transform(({ not, ...rest }) => ({ ...rest, ...(not === undefined ? {} : { noneOf: not }) })),
]);
/** Paths, and what must hold for their values. */
export const when = z
  .record(z.string(), test)
  .refine((tests) => Object.keys(tests).length > 0, 'needs a path')
  .refine((tests) => Object.keys(tests).length <= most.tests, `has more than ${most.tests} paths`)
  .transform((tests, context) =>
    Object.entries(tests).map(([path, each]) => {
      const read = plainPath.safeParse(path);
      if (read.success) return { path: read.data, ...each };
      for (const { message } of read.error.issues) context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }),
  );
const reason = z
  .string()
  .refine((text) => isPath(text) || /^[A-Za-z][A-Za-z0-9]*$/.test(text), {
    error: 'must be a path, or one word in CamelCase',
    abort: true,
  })
  .transform((text, context) => {
    if (!isPath(text)) return text;
    const read = plainPath.safeParse(text);
    if (read.success) return read.data;
    for (const { message } of read.error.issues) context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
const rule = z.strictObject({
  kind: z.string().regex(/^[A-Za-z0-9*]+(\.[-a-z0-9.*]+)?$/, 'must be Kind or Kind.group; * matches any text'),
  source: z.string().optional(),
  cases: z
    .array(
      z.strictObject({
        status: z.enum(healthStatuses),
        when,
        reason: reason.optional(),
        message: plainPath.optional(),
      }),
    )
    .min(1)
    .max(most.cases),
});
const document = z.strictObject({ rules: z.array(z.unknown()).max(most.rules).nullable().default([]) });

/** @param parsed the parsed YAML; null for an empty document. */
export function readHealthRules(parsed: unknown, source: DeclaredHealth['source']): ReadHealthRules {
  const read = document.safeParse(parsed ?? {});
  if (!read.success) return { rules: [], problems: [`the document is left out: ${issuesText(read.error)}`] };
  const rules: HealthRuleFor[] = [];
  const problems: string[] = [];
  for (const [at, each] of (read.data.rules ?? []).entries()) {
    const found = rule.safeParse(each);
    if (found.success) {
      const { kind, cases } = found.data;
      rules.push({
        kind,
        pattern: namePattern(kind, 'i'),
        declared: { source, cases: JSON.parse(JSON.stringify(cases)) as DeclaredHealth['cases'] },
      });
    } else {
      problems.push(`the rule ${nameOf(each) ?? `number ${at + 1}`} is left out: ${issuesText(found.error)}`);
    }
  }
  return { rules, problems };
}

/** The shipped rules from the JSON text that `npm run health-rules` has written. */
export function checkedHealthRules(text: string): ReadHealthRules {
  const rules = JSON.parse(text) as readonly { readonly kind: string; readonly cases: DeclaredHealth['cases'] }[];
  return {
    problems: [],
    rules: rules.map(({ kind, cases }) => ({
      kind,
      pattern: namePattern(kind, 'i'),
      declared: { source: 'SHIPPED', cases },
    })),
  };
}

/** The rules of one kind: the first of each document that names it, in the order of the documents. */
export function healthRulesOf(
  documents: readonly ReadHealthRules[],
  { group, kind }: { readonly group: string; readonly kind: string },
): HealthRules {
  const name = group === '' ? kind : `${kind}.${group}`;
  return documents.flatMap(({ rules }) => rules.find(({ pattern }) => pattern.test(name))?.declared ?? []);
}

function nameOf(value: unknown): string | null {
  const kind = (value as { readonly kind?: unknown } | null)?.kind;
  return typeof kind === 'string' ? kind : null;
}
