/**
 * Who changed an object: the managers with the newest time in its managedFields.
 *
 * An API server sets the time of a manager's entry when the manager changes the object, in whole seconds. So the managers with the newest
 * time made the newest change that managedFields record. They are kept in the entry of the change log. In the
 * bodies, the managers of all objects would take space, also of objects that never change. Every first list would have to read them.
 *
 *   [{ manager: "kubectl", operation: "Apply", time: "…T08:00:00Z", fieldsV1 }, { manager: "kubelet", subresource: "status", time: "…T08:15:00Z" }]
 *     becomes [["kubelet","Update","status","…T08:15:00Z"]]
 */
import { parsedJson } from '../../base/json.ts';

/** A manager as the change log has it, with the texts of the API server. */
export interface FieldManager {
  readonly manager: string;
  /** `Apply` or `Update`. */
  readonly operation: string | null;
  /** Such as `status` or `scale`; null for the object itself. */
  readonly subresource: string | null;
  /** RFC 3339, in whole seconds. */
  readonly time: string;
}

/** More managers with the same time are left out. */
const most = 8;
/** Characters of a text; API servers allow 128 for a manager. */
const longest = 128;
/**
 * When an object is applied for the first time, an API server assigns fields without a manager to this name. So it did not change anything.
 */
const nobody = 'before-first-apply';

/**
 * The managers with the newest time, as JSON. Null if managedFields name no manager.
 * @param managedFields the list, or its JSON text
 */
export function newestManagers(managedFields: unknown): string | null {
  const entries = managersIn(typeof managedFields === 'string' ? parsedJson(managedFields) : managedFields);
  const newest = entries.reduce((latest, { time }) => Math.max(latest, Date.parse(time)), Number.NEGATIVE_INFINITY);
  const found = entries.filter(({ time }) => Date.parse(time) === newest).slice(0, most);
  if (found.length === 0) return null;
  return JSON.stringify(
    found.map(({ manager, operation, subresource, time }) => [manager, operation, subresource, time]),
  );
}

/** The managers of an entry of the change log. */
export function readManagers(text: string | null): readonly FieldManager[] {
  if (text === null) return [];
  const found = JSON.parse(text) as readonly [string, string | null, string | null, string][];
  return found.map(([manager, operation, subresource, time]) => ({ manager, operation, subresource, time }));
}

function managersIn(list: unknown): readonly FieldManager[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((entry: unknown): readonly FieldManager[] => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { manager, operation, subresource, time } = entry as Readonly<Record<string, unknown>>;
    if (!isText(manager) || manager === nobody || !isText(time) || Number.isNaN(Date.parse(time))) return [];
    const orNull = (value: unknown): string | null => (isText(value) ? value : null);
    return [{ manager, operation: orNull(operation), subresource: orNull(subresource), time }];
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= longest && value.isWellFormed();
}
