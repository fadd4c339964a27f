/**
 * Tables: objects as the rows that `kubectl get` prints (KEP-2334, "server-side printing"). Custom kinds have the columns of
 * their definition. Some built-in kinds have those of a real server. All others have a name and a time.
 */
import type { Clock } from '../../src/base/clock.ts';
import { asArray, asObject, asString, at, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import type { ServedResource } from '../resources/served-resource.ts';
import { metadataOnlyText } from './partial-metadata.ts';

/** One column, and the function that reads its cell from an object. */
interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  cell(object: JsonObject, now: number): unknown;
}

/** The content of each row besides its cells. */
export type IncludeObject = 'None' | 'Metadata' | 'Object';

const name: TableColumn = {
  name: 'Name',
  type: 'string',
  format: 'name',
  cell: (object) => at(object, 'metadata', 'name'),
};
const age: TableColumn = {
  name: 'Age',
  type: 'string',
  cell: (object, now) => ageText(asString(at(object, 'metadata', 'creationTimestamp')), now),
};
const column = (title: string, type: string, cell: (object: JsonObject) => unknown, priority = 0): TableColumn => ({
  name: title,
  type,
  priority,
  cell,
});
const path =
  (...keys: string[]) =>
  (object: JsonObject): unknown =>
    at(object, ...keys);
const orNone = (value: unknown): string => asString(value) || '<none>';
const size =
  (...keys: string[]) =>
  (object: JsonObject): number =>
    keys.reduce((sum, key) => sum + Object.keys(asObject(object[key])).length, 0);

function readyContainers(pod: JsonObject): string {
  const ready = asArray(at(pod, 'status', 'containerStatuses')).filter((status) => asObject(status).ready === true);
  return `${ready.length}/${asArray(at(pod, 'spec', 'containers')).length}`;
}

function restarts(pod: JsonObject): string {
  const counts = asArray(at(pod, 'status', 'containerStatuses')).map((status) =>
    Number(asObject(status).restartCount ?? 0),
  );
  return String(counts.reduce((sum, count) => sum + count, 0));
}

const builtin: Readonly<Record<string, readonly TableColumn[]>> = {
  ConfigMap: [name, column('Data', 'string', size('data', 'binaryData')), age],
  Secret: [name, column('Type', 'string', path('type')), column('Data', 'string', size('data')), age],
  Namespace: [name, column('Status', 'string', path('status', 'phase')), age],
  Pod: [
    name,
    column('Ready', 'string', readyContainers),
    column('Status', 'string', (pod) => at(pod, 'status', 'reason') ?? at(pod, 'status', 'phase')),
    column('Restarts', 'string', restarts),
    age,
    column('IP', 'string', (pod) => orNone(at(pod, 'status', 'podIP')), 1),
    column('Node', 'string', (pod) => orNone(at(pod, 'spec', 'nodeName')), 1),
    column('Nominated Node', 'string', (pod) => orNone(at(pod, 'status', 'nominatedNodeName')), 1),
    column('Readiness Gates', 'string', () => '<none>', 1),
  ],
  Deployment: [
    name,
    column(
      'Ready',
      'string',
      (deployment) =>
        `${Number(at(deployment, 'status', 'readyReplicas') ?? 0)}/${Number(at(deployment, 'spec', 'replicas') ?? 0)}`,
    ),
    column('Up-to-date', 'string', (deployment) => Number(at(deployment, 'status', 'updatedReplicas') ?? 0)),
    column('Available', 'string', (deployment) => Number(at(deployment, 'status', 'availableReplicas') ?? 0)),
    age,
  ],
};
const plain: readonly TableColumn[] = [
  name,
  { name: 'Created At', type: 'date', cell: path('metadata', 'creationTimestamp') },
];

/** The age of a time: `5s`, `3m`, `2d`. */
function ageText(time: string, now: number): string {
  const seconds = Math.max(0, Math.floor((now - Date.parse(time)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}

/** The columns of a kind. */
function columnsOf(resource: ServedResource): readonly TableColumn[] {
  const { printerColumns } = resource;
  if (printerColumns === undefined) return builtin[resource.kind] ?? plain;
  const own = printerColumns.map((given): TableColumn => {
    const { name: title, type, priority, path: keys } = given;
    const cell = (object: JsonObject, now: number): unknown => {
      const value = at(object, ...keys) ?? null;
      return type === 'date' && typeof value === 'string' ? ageText(value, now) : value;
    };
    return { name: title, type, priority, cell };
  });
  return [name, ...(own.length > 0 ? own : [age])];
}

/** The table of these objects as JSON text; `metadata` is the list metadata. */
export function tableText(
  resource: ServedResource,
  objects: readonly Stored[],
  metadata: JsonObject,
  options: { readonly include: IncludeObject; readonly clock: Clock },
): string {
  const columns = columnsOf(resource);
  const now = options.clock.now();
  const columnDefinitions = columns.map(({ cell: _cell, ...rest }) => ({
    format: '',
    description: '',
    priority: 0,
    ...rest,
  }));
  const rows = objects.map((stored) => {
    const object = resource.view.convert(stored.object);
    const cells = JSON.stringify(columns.map((each) => each.cell(object, now) ?? null));
    const shown =
      options.include === 'Object'
        ? stored.text(resource.view)
        : options.include === 'Metadata'
          ? metadataOnlyText(stored, resource)
          : 'null';
    return `{"cells":${cells},"object":${shown}}`;
  });
  const head = JSON.stringify({ kind: 'Table', apiVersion: 'meta.k8s.io/v1', metadata, columnDefinitions });
  return `${head.slice(0, -1)},"rows":[${rows.join(',')}]}`;
}
