/**
 * Lines of a stream of bytes.
 *
 * A line is UTF-8. Bytes that are not are shown as U+FFFD, as a terminal shows them. Of a longer line than `longestLine` the first bytes are
 * kept, and the others are counted. So the memory of a reader is bounded by one line and one piece.
 */

/** Bytes of a line, with its time. */
export const longestLine = 64 * 1024;

const newline = 0x0a;
/** Bytes that a reader keeps for the beginning of its next line. */
const mostKept = 1024;
/** Bytes of `begun`: more than a time has. */
const mostShown = 64;

/** @param leftOut bytes of the line that are left out */
type TakeLine = (line: string, leftOut: number) => void;

export class LineReader {
  readonly #take: TakeLine;
  /** The beginning of a line whose end has not come. */
  #begun = Buffer.alloc(0);
  #begunBytes = 0;
  #leftOut = 0;

  constructor(take: TakeLine) {
    this.#take = take;
  }

  /** @param piece at most `longestLine` bytes, so that no line inside it is longer */
  read(piece: Buffer): void {
    const last = piece.lastIndexOf(newline);
    if (last === -1) {
      this.#hold(piece);
      return;
    }
    let from = 0;
    if (this.#begunBytes > 0) {
      const first = piece.indexOf(newline);
      this.#hold(piece.subarray(0, first));
      this.#endLine();
      from = first + 1;
    }
    if (from <= last) for (const line of piece.toString('utf8', from, last).split('\n')) this.#take(line, 0);
    if (last + 1 < piece.length) this.#hold(piece.subarray(last + 1));
  }

  /** The first characters of a line whose end has not come; empty without one. */
  get begun(): string {
    return this.#begun.toString('utf8', 0, Math.min(this.#begunBytes, mostShown));
  }

  /** The stream is over. Its last line may have no end. */
  end(): void {
    if (this.#begunBytes > 0) this.#endLine();
  }

  #hold(part: Buffer): void {
    const room = longestLine - this.#begunBytes;
    const held = Math.min(room, part.length);
    // A copy, because a small part would keep its whole piece in memory. One copy, because each has an overhead and parts may be single bytes.
    this.#reserve(this.#begunBytes + held);
    part.copy(this.#begun, this.#begunBytes, 0, held);
    this.#begunBytes += held;
    this.#leftOut += part.length - held;
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#begun.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.min(longestLine, Math.max(bytes, 2 * this.#begun.length)));
    this.#begun.copy(larger, 0, 0, this.#begunBytes);
    this.#begun = larger;
  }

  #endLine(): void {
    const whole = this.#begun.subarray(0, this.#begunBytes);
    const end = this.#leftOut === 0 ? whole.length : characterEnd(whole);
    const leftOut = this.#leftOut + whole.length - end;
    const line = whole.toString('utf8', 0, end);
    if (this.#begun.length > mostKept) this.#begun = Buffer.alloc(0);
    this.#begunBytes = 0;
    this.#leftOut = 0;
    this.#take(line, leftOut);
  }
}

/** Where the last whole character of a text that was cut ends. */
function characterEnd(bytes: Buffer): number {
  let at = bytes.length - 1;
  while (at > bytes.length - 4 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  const first = bytes[at] ?? 0;
  const size = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
  return at + size <= bytes.length ? bytes.length : at;
}
