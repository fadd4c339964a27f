/** The lines that differ between two texts, as `diff -u` prints them, with two equal lines around them. */

const around = 2;

/** Empty for equal texts. `...` stands for equal lines that are left out. */
export function lineDifference(before: string, after: string): readonly string[] {
  const lines = compared(linesOf(before), linesOf(after));
  const isNear = (index: number): boolean =>
    lines.slice(Math.max(0, index - around), index + around + 1).some((line) => !line.startsWith(' '));
  return lines.flatMap((line, index) => {
    if (isNear(index)) return [line];
    return index > 0 && isNear(index - 1) && lines.slice(index).some((each) => !each.startsWith(' ')) ? ['...'] : [];
  });
}

function linesOf(text: string): readonly string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

/** By the longest common subsequence. */
function compared(a: readonly string[], b: readonly string[]): readonly string[] {
  const length = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  const at = (i: number, j: number): number => length[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    const row = length[i];
    if (row === undefined) continue;
    for (let j = b.length - 1; j >= 0; j--)
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  }
  const lines: string[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(` ${a[i]}`);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) lines.push(`-${a[i++]}`);
    else lines.push(`+${b[j++]}`);
  }
  return lines;
}
