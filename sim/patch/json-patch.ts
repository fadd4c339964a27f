/** JSON patch (RFC 6902) over JSON pointers (RFC 6901). A failed `test` or a missing path is a 422, as on a real server. */
import { asString, cloneJson, equalJson, isObject, type JsonObject } from '../objects/json.ts';
import { StatusError, statusErrors } from '../objects/status-error.ts';

/** The details are in the cause, not in the message, as on a real server. */
function refuse(message: string): StatusError {
  const details = { causes: [{ reason: 'Invalid', message }] };
  return new StatusError(422, 'Invalid', 'the server rejected our request due to an error in our request', details);
}

function tokensOf(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/')) throw refuse(`${pointer} is not a JSON pointer`);
  return pointer
    .slice(1)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function indexOf(list: readonly unknown[], token: string, inserting: boolean): number {
  if (token === '-' && inserting) return list.length;
  const index = /^(0|[1-9]\d*)$/.test(token) ? Number(token) : -1;
  if (index < 0 || index >= list.length + (inserting ? 1 : 0)) throw refuse(`index ${token} is out of bounds`);
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
    if (!Array.isArray(current) && !isObject(current)) throw refuse(`no such path: /${tokens.join('/')}`);
    return { holder: current, last: tokens.at(-1) ?? '' };
  }

  #step(value: unknown, token: string): unknown {
    if (Array.isArray(value)) return value[indexOf(value, token, false)];
    if (isObject(value) && Object.hasOwn(value, token)) return value[token];
    throw refuse(`no such path: ${token}`);
  }

  get(pointer: string): unknown {
    return tokensOf(pointer).reduce<unknown>((value, token) => this.#step(value, token), this.root);
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
    else throw refuse(`no such path: ${pointer}`);
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
  if (!Array.isArray(operations)) throw statusErrors.badRequest('a JSON patch must be a list of operations');
  const document = new Document(cloneJson(target));
  for (const operation of operations) {
    if (!isObject(operation)) throw statusErrors.badRequest('an operation of a JSON patch must be an object');
    const path = asString(operation.path);
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
        if (!equalJson(document.get(path), operation.value)) throw refuse(`testing path ${path} failed`);
        break;
      default:
        throw statusErrors.badRequest(`unexpected kind of operation: ${JSON.stringify(operation.op)}`);
    }
  }
  return document.root;
}
