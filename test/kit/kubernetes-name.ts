/** Reads GraphQL names of fields back. Tests compare the names of field-names.ts with it. */

const hexToken = /_x([0-9A-F]+)_/y;

/** The Kubernetes name of a GraphQL name from fieldName. */
export function kubernetesNameOf(field: string): string {
  if (field === '_') return '';
  let text = field;
  if (text.endsWith('_') && !/_x[0-9A-F]+_$/.test(text)) text = text.slice(0, -1);
  if (/^_[0-9]/.test(text)) text = text.slice(1);
  let name = '';
  let at = 0;
  while (at < text.length) {
    hexToken.lastIndex = at;
    const token = hexToken.exec(text);
    if (token !== null) {
      name += String.fromCodePoint(Number.parseInt(token[1] ?? '', 16));
      at += token[0].length;
    } else if (text.startsWith('___', at)) {
      name += '.';
      at += 3;
    } else if (text.startsWith('__', at)) {
      name += '-';
      at += 2;
    } else {
      name += text[at] ?? '';
      at += 1;
    }
  }
  return name;
}
