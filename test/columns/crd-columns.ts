/** Columns of CustomResourceDefinitions for tests: their JSONPaths with every type, and those of real definitions. */
import { recordOr, records } from '../../src/base/json.ts';
import { loadCrds } from '../kit/crds.ts';
import type { Json } from './kind-state.ts';

export interface DeclaredColumn {
  readonly type: string;
  readonly jsonPath: string;
}

const paths = [
  '.spec.text',
  '.spec.whole',
  '.spec.part',
  '.spec.flag',
  '.spec.time',
  '.spec.list',
  '.spec.list[0]',
  '.spec.list[-1:]',
  '.spec.list[*]',
  '.spec.object',
  '.spec.object.*',
  '.spec.missing.below',
  ".metadata.labels['app\\.kubernetes\\.io/name']",
  '.metadata.annotations.note',
  '.status.conditions[?(@.type=="Ready")].status',
  '.status.conditions[-1].type',
  '..deep',
  '.spec.list[-2:]',
  '.spec.list[0:1]',
  '.spec.list[::2]',
  '.spec.list[5]',
  '.spec.list[0,1]',
  ".spec['text']",
  ".spec['whole','text']",
  '.spec.text.below',
  '.spec.object.only',
  '.status.conditions[*].type',
  '.status.conditions[?(@.type=="Ready")]',
  '.status.conditions[?(@.status!="True")].type',
  '.status.conditions[?(@.weight>1)].type',
  '.status.conditions[?(@.weight<=1.5)].weight',
  '.status.conditions[?(@.missing)].type',
  '.status..type',
  '.metadata.name',
  '.metadata.ownerReferences[0].kind',
  '.kind',
  '.spec.none',
  '.spec.nones[0]',
  '.spec.million',
  '.status.conditions[?(@.type[1])].status',
];

/** 200 columns: each path with each type. */
export const variedColumns: readonly DeclaredColumn[] = ['string', 'integer', 'number', 'boolean', 'date'].flatMap(
  (type) => paths.map((jsonPath) => ({ type, jsonPath })),
);

/** Objects whose values at these paths are of different types. */
export const variedObjects: readonly Json[] = [
  {
    metadata: { labels: { 'app.kubernetes.io/name': 'web' }, annotations: { note: 'n' } },
    spec: {
      text: 'a',
      whole: 7,
      part: 1.5,
      flag: true,
      time: '2026-01-02T03:04:05Z',
      list: ['p', 'q'],
      none: null,
      nones: [null, 1],
      million: 1234567.5,
      object: { only: 'one' },
      below: { deep: 'x' },
    },
    status: {
      conditions: [
        { type: 'Ready', status: 'True', weight: 1 },
        { type: 'Synced', status: 'False', weight: 2, missing: 0 },
      ],
    },
  },
  {
    spec: {
      text: 5,
      whole: -3.9,
      part: 2,
      flag: 'yes',
      list: [1, 2.5],
      object: { b: '<&>' },
      deep: false,
      million: 0.00001,
    },
    status: { conditions: [] },
  },
  { spec: { text: true, whole: 2 ** 40, part: 1e15, flag: false, list: [], object: {}, below: { deep: 4 } } },
  {},
];

/** The distinct columns of the definitions of PORTOLAN_CRDS; none without it. */
export function realColumns(): readonly DeclaredColumn[] {
  const found = new Map<string, DeclaredColumn>();
  for (const { crd } of loadCrds()) {
    for (const version of records(recordOr(recordOr(crd)['spec'])['versions'])) {
      const columns = Array.isArray(version['additionalPrinterColumns']) ? version['additionalPrinterColumns'] : [];
      for (const { type, jsonPath } of columns as DeclaredColumn[]) {
        found.set(`${type} ${jsonPath}`, { type, jsonPath });
      }
    }
  }
  return [...found.values()];
}

/** A value that a column of the type shows. */
function sampleOf(type: string, index: number): unknown {
  if (type === 'integer') return index;
  if (type === 'number') return index + 0.5;
  if (type === 'boolean') return index % 2 === 0;
  return type === 'date' ? '2026-01-02T03:04:05Z' : `text ${index}`;
}

/** An object with a value at each of the columns' paths, as far as they are fields, indexes and conditions. */
export function filled(columns: readonly DeclaredColumn[]): Json {
  const root: Record<string, unknown> = {};
  for (const [index, { type, jsonPath }] of columns.entries()) {
    if (jsonPath.startsWith('.metadata')) continue;
    const steps = jsonPath.match(/\.[\w-]+|\[\?\(@\.type\s*==\s*["'][^"']+["']\)\]|\[(\d+|\*)\]/g) ?? [];
    if (steps.join('') === jsonPath) put(root, steps, sampleOf(type, index));
  }
  return root;
}

function put(parent: unknown, [step = '', ...rest]: readonly string[], value: unknown): void {
  const type = /@\.type\s*==\s*["']([^"']+)["']/.exec(step)?.[1];
  const below = (): unknown => (rest.length === 0 ? value : rest[0]?.startsWith('[') ? [] : {});
  if (step.startsWith('.')) {
    if (typeof parent !== 'object' || parent === null || Array.isArray(parent)) return;
    const object = parent as Record<string, unknown>;
    object[step.slice(1)] ??= below();
    if (rest.length > 0) put(object[step.slice(1)], rest, value);
    return;
  }
  if (!Array.isArray(parent)) return;
  const list = parent as unknown[];
  if (type === undefined) {
    if (list.length === 0) list.push(below());
    put(list[0], rest, value);
    return;
  }
  let element = list.find((each) => recordOr(each)['type'] === type);
  if (element === undefined) {
    element = { type };
    list.push(element);
  }
  put(element, rest, value);
}
