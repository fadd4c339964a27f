/** The first names of a list, for one line. A last `…` stands for the others. */
export function shortList(names: readonly string[], most: number): readonly string[] {
  return names.length > most ? [...names.slice(0, most), '…'] : names;
}
