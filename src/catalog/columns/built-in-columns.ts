/** The columns of all built-in kinds, those of Kubernetes 1.37; docs/queries.md says what differs from older servers. */
import { accessColumns } from './access-columns.ts';
import type { BuiltInColumn } from './built-in-column.ts';
import { clusterColumns } from './cluster-columns.ts';
import { deviceColumns } from './device-columns.ts';
import { eventColumns } from './event-columns.ts';
import { networkColumns } from './network-columns.ts';
import { podColumns } from './pod-columns.ts';
import { storageColumns } from './storage-columns.ts';
import { workloadColumns } from './workload-columns.ts';

const byKey: ReadonlyMap<string, readonly BuiltInColumn[]> = new Map([
  ['pods', podColumns],
  ['events', eventColumns],
  ...Object.entries(workloadColumns),
  ...Object.entries(networkColumns),
  ...Object.entries(storageColumns),
  ...Object.entries(clusterColumns),
  ...Object.entries(accessColumns),
  ...Object.entries(deviceColumns),
]);

/** The columns of a built-in kind, its name among them. @param key resourceKey; undefined for other kinds. */
export function builtInColumns(key: string): readonly BuiltInColumn[] | undefined {
  return byKey.get(key);
}
