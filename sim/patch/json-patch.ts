/** JSON patch (RFC 6902) over JSON pointers (RFC 6901). A failed `test` or a missing path is a 422, as on a real server. */
import { asString, cloneJson, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';

/** Real servers do not tell the client what was wrong with the patch. */
function refuse(): StatusError {
  return new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

function tokensOf(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw refuse();
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function indexOf(list: readonly unknown[], token: string, inserting: boolean): number {
  if (token === '-' && inserting) return list.length;
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index >= list.length + (inserting ? 1 : 0)) throw refuse();
  return index;
}

/** A private copy of the document for one patch. */
class Document {
  root: unknown;
  constructor(root: unknown) {
    this.root = root;
  }

  #parent(tokens: readonly string[]): { holder: JsonObject | unknown[]; last: string } {
    let current: unknown = this.root;
    for (const token of tokens.slice(0, -1)) current = this.#step(current, token);
    if (!Array.isArray(current) && !isObject(current)) throw refuse();
    return { holder: current, last: tokens.at(-1) ?? '' };
  }

  #step(value: unknown, token: string): unknown {
    if (Array.isArray(value)) return value[indexOf(value, token, false)];
    if (isObject(value) && Object.hasOwn(value, token)) return value[token];
    throw refuse();
  }

  get(pointer: string): unknown {
    return tokensOf(pointer).reduce<unknown>((value, token) => this.#step(value, token), this.root);
  }

  /** The value there; undefined for an absent member of an object. */
  tested(pointer: string): unknown {
    const tokens = tokensOf(pointer);
    if (tokens.length === 0) return this.root;
    const { holder, last } = this.#parent(tokens);
    return isObject(holder) && !Object.hasOwn(holder, last) ? undefined : this.#step(holder, last);
  }

  add(pointer: string, value: unknown): void {
    const tokens = tokensOf(pointer);
    if (tokens.length === 0) {
      this.root = value;
      return;
    }
    const { holder, last } = this.#parent(tokens);
    if (Array.isArray(holder)) holder.splice(indexOf(holder, last, true), 0, value);
    else holder[last] = value;
  }

  remove(pointer: string): void {
    const { holder, last } = this.#parent(tokensOf(pointer));
    if (Array.isArray(holder)) holder.splice(indexOf(holder, last, false), 1);
    else if (Object.hasOwn(holder, last)) delete holder[last];
    else throw refuse();
  }

  replace(pointer: string, value: unknown): void {
    this.get(pointer);
    const tokens = tokensOf(pointer);
    if (tokens.length === 0) {
      this.root = value;
      return;
    }
    const { holder, last } = this.#parent(tokens);
    if (Array.isArray(holder)) holder[indexOf(holder, last, false)] = value;
    else holder[last] = value;
  }
}

/** Applies the operations in order to a copy of the target. Throws a Status of 400 or 422. */
export function jsonPatch(target: unknown, operations: unknown): unknown {
  if (!Array.isArray(operations)) throw statusErrors.badRequest('error decoding patch: a list of operations is needed');
  const document = new Document(cloneJson(target));
  for (const operation of operations) {
    if (!isObject(operation)) throw statusErrors.badRequest('error decoding patch: an operation must be an object');
    if (typeof operation.path !== 'string') throw refuse();
    const { path } = operation;
    const from = asString(operation.from);
    switch (operation.op) {
      case 'add':
        document.add(path, cloneJson(operation.value));
        break;
      case 'remove':
        document.remove(path);
        break;
      case 'replace':
        document.replace(path, cloneJson(operation.value));
        break;
      case 'copy':
        document.add(path, cloneJson(document.get(from)));
        break;
      case 'move': {
        const moved = document.get(from);
        document.remove(from);
        document.add(path, moved);
        break;
      }
      case 'test':
        // As real servers do: a member that is absent is equal to null.
        if (!equalJson(document.tested(path) ?? null, operation.value ?? null)) throw refuse();
        break;
      default:
        throw refuse();
    }
  }
  return document.root;
}
