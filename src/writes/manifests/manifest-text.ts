/** A text of manifests, and the places in it. */
import { LineCounter } from 'yaml';
import { PortolanError } from '../../base/errors.ts';

export class ManifestText {
  /** Without a byte order mark. Each line ends with `\n`, the last one too: kubectl adds it, and a block text at the end has it. */
  readonly text: string;
  readonly #lines = new LineCounter();

  constructor(sent: string) {
    const text = sent.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
    this.text = text.endsWith('\n') ? text : `${text}\n`;
    let start = 0;
    do {
      this.#lines.addNewLine(start);
      start = this.text.indexOf('\n', start) + 1;
    } while (start > 0);
  }

  /** The line of an offset, from 1. */
  line(offset: number): number {
    return this.#lines.linePos(offset).line;
  }

  /** The spaces at an offset, and those of the empty lines after it. The last line is there with its line break only. */
  blanks(offset: number): string {
    const blank = /(?: *\n)*/y;
    blank.lastIndex = offset;
    return blank.exec(this.text)?.[0] ?? '';
  }

  /** An error about the character at the offset. `problem` is a sentence without its full stop that `at line 3, column 5` can follow. */
  error(offset: number, problem: string, remedy: string): PortolanError {
    const { line, col } = this.#lines.linePos(offset);
    return new PortolanError('BAD_USER_INPUT', `${problem} at line ${line}, column ${col}. ${remedy}`, {
      details: { line, column: col },
    });
  }
}
