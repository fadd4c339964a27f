/**
 * Slices the items of a LIST body while it streams, so a collection of any size needs no more memory than its largest item.
 *
 * The slicer tracks strings, escapes and nesting; bracket-scan.ts does so inside items. All delimiters are ASCII, and UTF-8
 * has no ASCII byte inside another character. The slicer does not validate JSON: the store parses each item, and `end`
 * rejects a body that is not a list.
 *
 *   chunk -> push -> each complete item; end -> the members other than `items`
 *
 * Example: `{"metadata":{"resourceVersion":"7"},"items":[{"a":1},{"b":2}]}` gives the items `{"a":1}` and `{"b":2}`; `end`
 * gives resourceVersion `7`.
 *
 * Items are returned exactly as received, except for metadata.managedFields (managed-fields.ts). `metadata` may come before
 * or after the items; `items: null` is an empty list.
 */
import { recordOr, textOr } from '../../base/json.ts';
import type { IncomingObject } from '../../store/types/incoming-object.ts';
import { load, openObject, type ScanState, scan } from './bracket-scan.ts';
import { withoutManagedFields } from './managed-fields.ts';
import { itemTooLong, ProtocolError } from './protocol-error.ts';

/** An object of a list. */
export class ListItem implements IncomingObject {
  /** Valid until the buffer of its chunk is overwritten. */
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  get text(): string {
    return this.bytes.toString('utf8');
  }
}

/** The head of a list: its metadata and type. */
export interface ListHead {
  readonly kind: string;
  /** The collection's resourceVersion; empty if the server sends none. */
  readonly resourceVersion: string;
  /** The token of the next page; empty on the last one. */
  readonly continueToken: string;
  readonly remaining: number | null;
}

/** 64 MiB: far above etcd's limit for one object. */
const defaultMaxItemBytes = 64 * 1024 * 1024;

const quote = 0x22;
const backslash = 0x5c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const comma = 0x2c;
const colon = 0x3a;

const isSpace = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The position in the list. `members` is outside of a member's value; `items` is between two items. */
type SlicerState = 'start' | 'members' | 'value' | 'items' | 'item' | 'done';

export class ListSlicer {
  readonly #maxBytes: number;
  readonly #members = new Map<string, string>();
  #state: SlicerState = 'start';
  #depth = 0;
  #inString = false;
  #escaped = false;
  /** The bytes being collected: a member's name, a member's value or an item. */
  #parts: Buffer[] = [];
  #collected = 0;
  #from = -1;
  #name: string | null = null;
  #awaitsValue = false;
  #sawItems = false;
  /** The bracket state inside the item. */
  #scanned: ScanState = openObject(0);

  constructor(maxBytes: number = defaultMaxItemBytes) {
    this.#maxBytes = maxBytes;
  }

  /** The items that this chunk completes. Lazy: take all of them before the next chunk. */
  *push(bytes: Buffer): Generator<ListItem, void, undefined> {
    // A separate object identifies the bytes that are loaded in the scanner.
    const chunk = bytes.subarray();
    if (this.#collecting()) this.#from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      if (this.#state === 'item') {
        load(chunk);
        at = scan(at, chunk.length, 0, this.#scanned);
        if (at === -1) break;
        this.#state = 'items';
        yield this.#takeItem(chunk, at + 1);
      } else if (this.#inString) at = this.#throughString(chunk, at);
      else if (this.#state === 'items') this.#betweenItems(at, chunk[at] as number);
      else this.#outside(chunk, at, chunk[at] as number);
    }
    if (this.#from === -1) return;
    this.#keep(chunk.subarray(this.#from));
    this.#from = -1;
  }

  /** The token of the next page, empty on the last one. Null while unknown, since metadata may come after the items. */
  get nextToken(): string | null {
    const metadata = this.#members.get('metadata');
    return metadata === undefined ? null : textOr(recordOr(parse(metadata))['continue']);
  }

  /** The list's head. Throws a ProtocolError if the body ended early or was no list. */
  end(): ListHead {
    if (this.#state !== 'done') {
      throw new ProtocolError('truncated', 'The list from the API server ended in the middle: request it again.');
    }
    const kind = textOr(parse(this.#members.get('kind')));
    if (!this.#sawItems) {
      throw new ProtocolError(
        'not a list',
        `The API server sent ${kind === '' ? 'an object' : kind} instead of a list.`,
      );
    }
    const metadata = recordOr(parse(this.#members.get('metadata')));
    const remaining = metadata['remainingItemCount'];
    return {
      kind,
      resourceVersion: textOr(metadata['resourceVersion']),
      continueToken: textOr(metadata['continue']),
      remaining: typeof remaining === 'number' ? remaining : null,
    };
  }

  #collecting(): boolean {
    return this.#state === 'item' || this.#state === 'value' || (this.#state === 'members' && this.#inString);
  }

  /** Scans to the end of a string or of the chunk; returns the index of the last byte read. */
  #throughString(chunk: Buffer, from: number): number {
    let at = from;
    while (at < chunk.length) {
      if (this.#escaped) {
        this.#escaped = false;
        at += 1;
        continue;
      }
      const byte = chunk[at] as number;
      if (byte === backslash) this.#escaped = true;
      else if (byte === quote) {
        this.#inString = false;
        if (this.#state === 'members') this.#name = textOr(parse(this.#take(chunk, at + 1).toString('utf8')));
        return at;
      }
      at += 1;
    }
    return at;
  }

  #betweenItems(at: number, byte: number): void {
    if (byte === comma || isSpace(byte)) return;
    if (byte === closeBracket) {
      this.#state = 'members';
      this.#name = null;
      return;
    }
    if (byte !== openBrace) throw notJson();
    this.#state = 'item';
    this.#scanned = openObject(1);
    this.#from = at;
  }

  #outside(chunk: Buffer, at: number, byte: number): void {
    if (this.#state === 'value') {
      this.#inValue(chunk, at, byte);
    } else if (isSpace(byte)) {
      return;
    } else if (this.#state === 'start') {
      if (byte !== openBrace) throw notJson();
      this.#state = 'members';
    } else if (this.#state === 'done') {
      throw notJson();
    } else if (this.#awaitsValue) {
      this.#awaitsValue = false;
      this.#beginValue(at, byte);
    } else if (byte === quote) {
      if (this.#name !== null) throw notJson();
      this.#inString = true;
      this.#from = at;
    } else if (byte === colon && this.#name !== null) {
      this.#awaitsValue = true;
    } else if (byte === closeBrace) {
      this.#state = 'done';
    } else if (byte !== comma) {
      throw notJson();
    }
  }

  #beginValue(at: number, byte: number): void {
    if (this.#name === 'items' && byte === openBracket) {
      this.#sawItems = true;
      this.#state = 'items';
      return;
    }
    this.#state = 'value';
    this.#from = at;
    this.#depth = byte === openBrace || byte === openBracket ? 1 : 0;
    this.#inString = byte === quote;
  }

  /** A member's value ends with its bracket, or before the comma or brace that follows it. */
  #inValue(chunk: Buffer, at: number, byte: number): void {
    if (byte === quote) this.#inString = true;
    else if (byte === openBrace || byte === openBracket) this.#depth += 1;
    else if (this.#depth > 0) {
      if (byte === closeBrace || byte === closeBracket) this.#depth -= 1;
    } else if (byte === comma || byte === closeBrace) {
      const text = this.#take(chunk, at).toString('utf8').trim();
      this.#endValue(text);
      if (byte === closeBrace) this.#state = 'done';
    }
  }

  #endValue(text: string): void {
    const name = this.#name ?? '';
    if (name === 'items') {
      if (text !== 'null') throw new ProtocolError('not a list', 'The API server sent a list whose items are no list.');
      this.#sawItems = true;
    }
    this.#members.set(name, text);
    this.#name = null;
    this.#state = 'members';
  }

  #keep(part: Buffer): void {
    this.#collected += part.length;
    if (this.#collected > this.#maxBytes) {
      throw new ProtocolError(
        itemTooLong,
        `The API server sent an object of more than ${this.#maxBytes} bytes: find the oversized object and make it smaller.`,
      );
    }
    this.#parts.push(part);
  }

  #takeItem(chunk: Buffer, end: number): ListItem {
    const from = this.#from;
    const inOneChunk = this.#parts.length === 0;
    const item = this.#take(chunk, end);
    return new ListItem(inOneChunk ? withoutManagedFields(item, chunk, from) : withoutManagedFields(item));
  }

  #take(chunk: Buffer, end: number): Buffer {
    this.#keep(chunk.subarray(this.#from, end));
    const [first] = this.#parts;
    const whole = this.#parts.length === 1 && first !== undefined ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#collected = 0;
    this.#from = -1;
    return whole;
  }
}

function notJson(): ProtocolError {
  return new ProtocolError(
    'bad json',
    'The API server sent a list that is not JSON: check the proxies in front of it.',
  );
}

function parse(text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw notJson();
  }
}
