/**
 * The cost of counts and aggregates: the rows that they read in a second of processor time, by the place of the values: index,
 * column, body or list. The costs of src/query/plan/scan-budget.ts and the default of --scan-rows stand on it: one operation's
 * scans must fit into its lease.
 */
import { join } from 'node:path';
import { unrestricted } from '../src/access/scope.ts';
import type { LeafType } from '../src/catalog/tree/field-tree.ts';
import { parsePath } from '../src/catalog/tree/path.ts';
import { optionTable } from '../src/config/options.ts';
import type { AggregatePlan, Leaf, Measured } from '../src/query/plan/aggregate.ts';
import { everything, type Filter } from '../src/query/plan/filter.ts';
import { ScanBudget } from '../src/query/plan/scan-budget.ts';
import { aggregateKinds } from '../src/query/read/aggregate-kinds.ts';
import { readView } from '../src/query/sql/view.ts';
import { openReader } from '../src/store/read/reader.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { inFolder } from './support/folder.ts';
import { phaseOf } from './support/list-query.ts';
import { podDescription, podText } from './support/pods.ts';

export const about = 'rows that counts and aggregates look at in a second [Pods, default 50000]';

const leaf = (path: string, type: LeafType): Leaf => ({ path: parsePath(path), type });
const measure = (path: string, type: LeafType): Measured => ({ ...leaf(path, type), sum: true, ends: false });
const questions: readonly (readonly [
  what: string,
  kind: 'index' | 'columns' | 'body' | 'list',
  plan: Partial<AggregatePlan>,
])[] = [
  ['count by an indexed column', 'index', { by: [leaf('status.phase', 'String')] }],
  [
    'count by two indexed columns',
    'columns',
    { by: [leaf('status.phase', 'String'), leaf('spec.nodeName', 'String')] },
  ],
  ['count by namespace', 'columns', { by: [leaf('metadata.namespace', 'String')] }],
  ['count by a label', 'columns', { by: [leaf('metadata.labels["app"]', 'String')] }],
  [
    'greatest of a column, by another',
    'columns',
    {
      by: [leaf('spec.nodeName', 'String')],
      measured: [{ ...leaf('status.startTime', 'DateTime'), sum: false, ends: true }],
    },
  ],
  ['count with a filter on the body', 'body', { filter: equals('status.qosClass', 'Burstable') }],
  ['count by a leaf of the body', 'body', { by: [leaf('status.qosClass', 'String')] }],
  ['sum of a number in the body', 'body', { measured: [measure('metadata.generation', 'Int64')] }],
  ['count by a leaf in a list', 'list', { by: [leaf('spec.containers[].image', 'String')] }],
  [
    'sum of quantities in a list',
    'list',
    { measured: [measure('spec.containers[].resources.requests["cpu"]', 'Quantity')] },
  ],
];

function equals(path: string, value: string): Filter {
  return { kind: 'compare', path: parsePath(path), type: 'String', operator: 'eq', values: [value], ignoreCase: false };
}

export async function run([count = '50000']: readonly string[]): Promise<void> {
  const pods = Number(count);
  await inFolder(async (directory) => {
    const file = join(directory, 'store.db');
    const writer = openWriter(file, { checkpoints: 'inline' });
    const reader = openReader(file, { readers: 1, leaseMs: 60_000 });
    try {
      const handle = writer.declare(podDescription('bench'));
      const replace = writer.replace(handle);
      for (let index = 0; index < pods; index += 500) {
        const texts = Array.from({ length: Math.min(500, pods - index) }, (_, at) => ({
          text: podText(index + at, phaseOf(index + at), 1),
        }));
        replace.put(texts);
      }
      await replace.commit('1');
      const allowed = optionTable.scanRows.schema.parse(undefined);
      const figures: { what: string; kind: string; rowsInASecond: number }[] = [];
      for (const [what, kind, part] of questions) {
        const plan: AggregatePlan = {
          kinds: [{ key: 'pods', tree: { root: '', shapes: {} } }],
          filter: everything,
          by: [],
          measured: [],
          ...part,
        };
        const times: number[] = [];
        for (let turn = 0; turn < 4; turn += 1) {
          await reader.lease(async (lease) => {
            const view = await readView(lease, unrestricted);
            const began = process.cpuUsage();
            await aggregateKinds([{ lease, view }], plan, new ScanBudget(Number.POSITIVE_INFINITY));
            const { user, system } = process.cpuUsage(began);
            times.push((user + system) / 1000);
          });
        }
        const rowsInASecond = Math.round((pods / Math.min(...times)) * 1000);
        figures.push({ what, kind, rowsInASecond });
        process.stdout.write(
          `${what.padEnd(36)} ${kind.padEnd(8)} ${rowsInASecond.toLocaleString('en').padStart(12)} rows per second of processor time\n`,
        );
      }
      process.stdout.write(`--scan-rows is ${allowed.toLocaleString('en')} by default\n`);
      process.stdout.write(`${JSON.stringify({ bench: 'aggregate', pods, figures, scanRows: allowed })}\n`);
    } finally {
      await reader.close();
      writer.close();
    }
  });
}
