/**
 * IP addresses as keys: IPv4 before IPv6, each by value. The syntax is that of Go's netip.ParseAddr: no leading zeros in IPv4,
 * `::` and an embedded IPv4 address in IPv6, a zone after `%`.
 */

/** Text that sorts as addresses do: `4` or `6`, then hexadecimal digits. Null when the text is not an address. */
export function ipKey(text: string): string | null {
  const four = ipv4(text);
  if (four !== null) return `4${four}`;
  const [address = '', ...zones] = text.split('%');
  const six = ipv6(address);
  if (six === null || zones.length > 1 || zones[0] === '') return null;
  return zones[0] === undefined ? `6${six}` : `6${six}%${zones[0]}`;
}

/** The address of a key from `ipKey`, in its shortest form (RFC 5952). */
export function ipOfKey(key: string): string {
  const [digits = '', zone] = key.slice(1).split('%');
  const address = key.startsWith('4') ? dotted(digits) : colons(digits);
  return zone === undefined ? address : `${address}%${zone}`;
}

/** Bytes as two hexadecimal digits. */
const hexadecimal = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const dot = 0x2e;

/** Reads character by character for speed: it runs for each address of each stored Pod. */
function ipv4(text: string): string | null {
  let key = '';
  let parts = 0;
  let part = 0;
  let digits = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const code = at === text.length ? dot : text.charCodeAt(at);
    if (code === dot) {
      if (digits === 0) return null;
      key += hexadecimal[part];
      parts += 1;
      part = 0;
      digits = 0;
      continue;
    }
    const digit = code - 0x30;
    const leadingZero = digits > 0 && part === 0;
    if (digit < 0 || digit > 9 || leadingZero) return null;
    part = part * 10 + digit;
    digits += 1;
    if (part > 255) return null;
  }
  return parts === 4 ? key : null;
}

function ipv6(text: string): string | null {
  if (!text.includes(':')) return null;
  const halves = text.split('::');
  if (halves.length > 2) return null;
  const [left, right] = halves.map((half, index) => groups(half, index === halves.length - 1));
  if (left === null || left === undefined || right === null) return null;
  if (right === undefined) return left.length === 8 ? left.join('') : null;
  const missing = 8 - left.length - right.length;
  return missing < 1 ? null : [...left, ...Array<string>(missing).fill('0000'), ...right].join('');
}

/** Groups of four hexadecimal digits; the last may be written as an IPv4 address. */
function groups(text: string, last: boolean): readonly string[] | null {
  if (text === '') return [];
  const parts = text.split(':');
  const found: string[] = [];
  for (const [index, part] of parts.entries()) {
    const four = last && index === parts.length - 1 ? ipv4(part) : null;
    if (four !== null) found.push(four.slice(0, 4), four.slice(4));
    else if (/^[0-9a-fA-F]{1,4}$/.test(part)) found.push(part.toLowerCase().padStart(4, '0'));
    else return null;
  }
  return found;
}

function dotted(digits: string): string {
  return [0, 2, 4, 6].map((at) => Number.parseInt(digits.slice(at, at + 2), 16)).join('.');
}

function colons(digits: string): string {
  const parts = Array.from({ length: 8 }, (_, at) =>
    Number.parseInt(digits.slice(at * 4, at * 4 + 4), 16).toString(16),
  );
  // The first of the longest runs of at least two zero groups becomes `::`.
  let best = { from: 0, length: 1 };
  for (let from = 0; from < 8; from++) {
    let length = 0;
    while (parts[from + length] === '0') length += 1;
    if (length > best.length) best = { from, length };
  }
  if (best.length < 2) return parts.join(':');
  return `${parts.slice(0, best.from).join(':')}::${parts.slice(best.from + best.length).join(':')}`;
}
