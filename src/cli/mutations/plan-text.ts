/**
 * A plan for people: a unified diff with a hunk for each field that changes, and a summary.
 *
 *   --- deployment.apps/web in shop
 *   +++ deployment.apps/web in shop
 *   @@ -1 +1 @@ spec.replicas, owned by hpa
 *   -2
 *   +3
 *   1 to change.
 *
 * A new object is one hunk. An object that is deleted has its two title lines only. Values are YAML. Where the text of a value has
 * several lines, the hunks are of its lines.
 */
import { stringify } from 'yaml';
import { isRecord, recordOr } from '../../base/json.ts';
import type { StyledText } from '../../base/output/standard-streams.ts';
import { oneLine } from '../../base/text/terminal-line.ts';
import { isRawJson, rawJsonText } from '../../catalog/values/raw-json.ts';
import { type LineEdit, lineEdits } from './line-diff.ts';
import type { ObjectWords } from './object-words.ts';
import type { FieldChange, WriteItem } from './written-items.ts';

/** Lines around a change. */
const context = 3;
const withheld = '(withheld)';
/** Members of metadata that the API server makes. A new object is shown without them. */
const made = new Set(['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'selfLink']);

/** The diff of the items that would change. */
export function planDiff(items: readonly WriteItem[], words: ObjectWords): readonly StyledText[] {
  return items.flatMap((item) => {
    const name = words.fullName(item.target);
    const title = (before: string, after: string): readonly StyledText[] => [
      ...lineOf(`--- ${before}`, 'title'),
      ...lineOf(`+++ ${after}`, 'title'),
    ];
    if (item.result === 'DELETED') return title(name, '/dev/null');
    if (item.result === 'CREATED') return [...title('/dev/null', name), ...newObject(item)];
    return item.changes.length === 0 ? [] : [...title(name, name), ...item.changes.flatMap(changedField)];
  });
}

const summaryWords: readonly (readonly [WriteItem['result'], string])[] = [
  ['CREATED', 'to create'],
  ['CHANGED', 'to change'],
  ['DELETED', 'to delete'],
  ['UNCHANGED', 'unchanged'],
  ['NONE', 'impossible'],
];

/** `1 to create, 4 unchanged.` */
export function planSummary(items: readonly WriteItem[]): string {
  const counts = summaryWords.flatMap(([result, word]) => {
    const count = items.filter((item) => item.result === result).length;
    return count === 0 ? [] : [`${count} ${word}`];
  });
  return `${counts.length === 0 ? 'Nothing to do' : counts.join(', ')}.`;
}

function newObject({ after, changes }: WriteItem): readonly StyledText[] {
  const { status: _status, metadata, ...others } = recordOr(after);
  const own = Object.fromEntries(Object.entries(recordOr(metadata)).filter(([name]) => !made.has(name)));
  const { apiVersion, kind, ...rest } = others;
  const lines = yamlLines({ apiVersion, kind, metadata: own, ...rest });
  const hidden = changes
    .filter(({ isWithheld }) => isWithheld)
    .map((change) => `${change.path}: ${change.after === null ? withheld : `${withheld} in part`}`);
  const edits = [...lines, ...hidden].map((line): LineEdit => ({ kind: 'added', line }));
  return hunks(edits, '');
}

function changedField(change: FieldChange): readonly StyledText[] {
  const { path, managers, before, after, isWithheld } = change;
  const owners = managers.length === 0 ? '' : `, owned by ${managers.join(', ')}`;
  const [left, right] = valueLines(before, after);
  const edits = lineEdits(left, right);
  // Which of both values has something withheld is not told.
  const hidden: readonly LineEdit[] = isWithheld
    ? [
        { kind: 'removed', line: withheld },
        { kind: 'added', line: withheld },
      ]
    : [];
  return hunks([...edits, ...hidden], ` ${path}${owners}`);
}

/** The lines of both values. Texts of several lines are compared as they are, and everything else as YAML. */
function valueLines(before: unknown, after: unknown): readonly [readonly string[], readonly string[]] {
  const values = [before, after];
  const areTexts = values.every((value) => value === null || typeof value === 'string');
  const isLong = values.some((value) => typeof value === 'string' && value.trimEnd().includes('\n'));
  const linesOf = (value: unknown): readonly string[] => {
    if (value === null) return [];
    return areTexts && isLong ? String(value).replace(/\n$/, '').split('\n') : yamlLines(value);
  };
  const [left, right] = [linesOf(before), linesOf(after)];
  // The texts differ in their last line break alone.
  const isSame = values.every((value) => typeof value === 'string') && left.join('\n') === right.join('\n');
  return isSame ? [yamlLines(before), yamlLines(after)] : [left, right];
}

function yamlLines(value: unknown): readonly string[] {
  return stringify(plain(value), { lineWidth: 0 }).trimEnd().split('\n');
}

/** Raw numbers as numbers, or as integers of any size. */
function plain(value: unknown): unknown {
  if (isRawJson(value)) {
    const text = rawJsonText(value);
    return /^-?\d+$/.test(text) ? BigInt(text) : Number(text);
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}

/** The hunks of the edits, each with `context` lines around its changes. */
function hunks(edits: readonly LineEdit[], heading: string): readonly StyledText[] {
  const shown = new Set<number>();
  for (const [index, { kind }] of edits.entries()) {
    if (kind === 'kept') continue;
    for (let near = index - context; near <= index + context; near += 1) shown.add(near);
  }
  const parts: StyledText[] = [];
  let [before, after] = [0, 0];
  for (let index = 0; index < edits.length; ) {
    let end = index;
    while (end < edits.length && shown.has(end)) end += 1;
    const hunk = edits.slice(index, end);
    const [left, right] = [
      hunk.filter(({ kind }) => kind !== 'added').length,
      hunk.filter(({ kind }) => kind !== 'removed').length,
    ];
    if (hunk.length > 0) {
      parts.push(...lineOf(`@@ -${range(before, left)} +${range(after, right)} @@${heading}`, 'place'));
      parts.push(...hunk.flatMap(({ kind, line }) => lineOf(`${signs[kind]}${line}`, kind === 'kept' ? null : kind)));
      [before, after, index] = [before + left, after + right, end];
    } else {
      // A line that is kept and not shown.
      [before, after, index] = [before + 1, after + 1, index + 1];
    }
  }
  return parts;
}

const signs = { kept: ' ', removed: '-', added: '+' } as const;

/** `3,2`: two lines from the third. An empty range names the line before it. */
function range(skipped: number, count: number): string {
  if (count === 1) return String(skipped + 1);
  return `${count === 0 ? skipped : skipped + 1},${count}`;
}

function lineOf(text: string, style: StyledText['style']): readonly StyledText[] {
  // A line of a value keeps its spaces.
  return [
    { text: style === 'title' || style === 'place' ? oneLine(text) : text, style },
    { text: '\n', style: null },
  ];
}
