/**
 * Patches of a set: JSON merge patch (RFC 7386) and JSON patch (RFC 6902), as API servers apply them to a custom resource.
 *
 *   merge   null removes, objects merge, all other values replace. So a patch of flowList has the whole list
 *   json    the operations in their order. One that does not fit is 422, and the server does not say which
 *
 * Never: changes what it is given, because the patch may be tried again. A JSON patch works on a copy of its own, so the cost of an operation
 * does not grow with the document. Copies, tests and moved elements have a bound for all operations together, because each may concern the
 * whole document.
 */
import { isRecord, textOr } from '../../base/json.ts';
import { must } from '../../base/must.ts';
import { memberOf } from '../../catalog/values/displayed-value.ts';
import { isRawJson } from '../../catalog/values/raw-json.ts';
import { manifestBounds } from '../../writes/manifests/manifest-bounds.ts';
import { statusError } from '../protocol/status.ts';

type Json = Readonly<Record<string, unknown>>;

/** Operations of one JSON patch, as an API server takes them. */
const mostOperations = 10_000;
/** Elements that all operations together may move by a place. A thousand operations may each move those of a list with 10,000. */
const mostMoved = 10_000_000;

/** @throws PortolanError that means 400 for a patch that is no object. */
export function merged(target: Json, patch: unknown): Json {
  if (!isRecord(patch)) throw statusError('BadRequest', 'error decoding patch: a merge patch is an object');
  return mergedValue(target, patch) as Json;
}

function mergedValue(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const made = new Map(Object.entries(isRecord(target) ? target : {}));
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) made.delete(name);
    else made.set(name, mergedValue(made.get(name), value));
  }
  return Object.fromEntries(made);
}

/** @throws PortolanError that means 400 for what is no JSON patch, 422 for one that does not fit, 413 for one that asks for too much. */
export function patched(target: Json, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw statusError('BadRequest', 'error decoding patch: a JSON patch is a list');
  if (operations.length > mostOperations) {
    throw statusError('RequestEntityTooLarge', `A JSON patch has at most ${mostOperations} operations.`);
  }
  const work = new PatchWork();
  // The document is the member of this holder, so the empty path is a place like others.
  const holder: unknown[] = [copyOf(target)];
  const at = (path: unknown): readonly string[] => ['0', ...pointer(path)];
  for (const operation of operations as readonly unknown[]) {
    if (!isRecord(operation)) throw statusError('BadRequest', 'error decoding patch: an operation is an object');
    const path = at(operation['path']);
    const { value } = operation;
    switch (operation['op']) {
      case 'add':
        add(holder, path, copyOf(value), work);
        break;
      case 'remove':
        remove(holder, path, work);
        break;
      case 'replace':
        valueAt(holder, path);
        put(holder, path, copyOf(value));
        break;
      case 'move':
        add(holder, path, remove(holder, at(operation['from']), work), work);
        break;
      case 'copy': {
        const copied = valueAt(holder, at(operation['from']));
        work.copies(copied);
        add(holder, path, copyOf(copied), work);
        break;
      }
      case 'test':
        // A member that is absent is equal to null, as for an API server.
        if (!work.isSame(testedAt(holder, path) ?? null, value ?? null)) throw unfit();
        break;
      default:
        throw unfit();
    }
  }
  return holder[0];
}

/** The amount of the document that the operations of one patch have read and moved. */
class PatchWork {
  #characters = 0;
  #values = 0;
  #moved = 0;

  /** Those behind the place of a new or removed element. */
  moves(elements: number): void {
    this.#moved += elements;
    if (this.#moved > mostMoved) throw statusError('RequestEntityTooLarge', 'The JSON patch moves too much.');
  }

  copies(value: unknown): void {
    this.#characters += JSON.stringify(value).length;
    if (this.#characters > manifestBounds.bytes) {
      throw statusError('RequestEntityTooLarge', 'The JSON patch copies too much.');
    }
  }

  /** Are the values equal? Ends at the first difference. */
  isSame(left: unknown, right: unknown): boolean {
    if (isRawJson(left) || isRawJson(right)) {
      return isRawJson(left) && isRawJson(right) && JSON.stringify(left) === JSON.stringify(right);
    }
    if (Array.isArray(left) && Array.isArray(right)) {
      this.#compares(left.length);
      return left.length === right.length && left.every((each, index) => this.isSame(each, right[index]));
    }
    if (!isRecord(left) || !isRecord(right)) return left === right;
    const names = Object.keys(left);
    this.#compares(names.length);
    return (
      names.length === Object.keys(right).length &&
      names.every((name) => Object.hasOwn(right, name) && this.isSame(left[name], right[name]))
    );
  }

  #compares(values: number): void {
    this.#values += values;
    if (this.#values <= manifestBounds.values) return;
    throw statusError('RequestEntityTooLarge', 'The JSON patch tests too much.');
  }
}

function unfit(): Error {
  return statusError('Invalid', 'the server rejected our request due to an error in our request');
}

function pointer(path: unknown): readonly string[] {
  if (path === '') return [];
  const text = textOr(path);
  if (!text.startsWith('/')) throw unfit();
  return text
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copyOf);
  if (!isRecord(value) || isRawJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, copyOf(each)]));
}

/** The object or list that has the place, and the last part of its path. */
function holderOf(holder: unknown, path: readonly string[]): readonly [unknown, string] {
  return [valueAt(holder, path.slice(0, -1)), must(path.at(-1), 'a path begins with the document')];
}

function valueAt(holder: unknown, path: readonly string[]): unknown {
  return path.reduce(inner, holder);
}

function inner(value: unknown, part: string): unknown {
  if (Array.isArray(value)) return value[indexIn(value, part, false)];
  if (isRecord(value) && Object.hasOwn(value, part)) return value[part];
  throw unfit();
}

function testedAt(root: unknown, path: readonly string[]): unknown {
  const [holder, last] = holderOf(root, path);
  return isRecord(holder) ? memberOf(holder, last) : inner(holder, last);
}

function indexIn(list: readonly unknown[], part: string, isNew: boolean): number {
  if (part === '-' && isNew) return list.length;
  const index = /^(0|[1-9]\d{0,8})$/.test(part) ? Number(part) : -1;
  if (index < 0 || index >= list.length + (isNew ? 1 : 0)) throw unfit();
  return index;
}

function add(root: readonly unknown[], path: readonly string[], value: unknown, work: PatchWork): void {
  const [holder, last] = holderOf(root, path);
  if (Array.isArray(holder) && holder !== root) {
    const index = indexIn(holder, last, true);
    work.moves(holder.length - index);
    holder.splice(index, 0, value);
  } else put(root, path, value);
}

function put(root: readonly unknown[], path: readonly string[], value: unknown): void {
  const [holder, last] = holderOf(root, path);
  if (Array.isArray(holder)) holder[indexIn(holder, last, false)] = value;
  // A plain assignment to __proto__ would make no member.
  else if (isRecord(holder)) {
    Object.defineProperty(holder, last, { value, configurable: true, enumerable: true, writable: true });
  } else throw unfit();
}

/** @returns what was there */
function remove(root: readonly unknown[], path: readonly string[], work: PatchWork): unknown {
  const [holder, last] = holderOf(root, path);
  const removed = inner(holder, last);
  if (holder === root) throw unfit();
  if (Array.isArray(holder)) {
    const index = indexIn(holder, last, false);
    work.moves(holder.length - index);
    holder.splice(index, 1);
  } else Reflect.deleteProperty(holder as object, last);
  return removed;
}
