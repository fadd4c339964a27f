/**
 * DER, as far as certificates need it: the values that X.509 is made of (ITU-T X.690).
 *
 *   INTEGER 5   ->   02 01 05   tag, length of the content, content
 *
 * It only writes. Certificates are read by node:crypto.
 */

/** A tag of the context-specific class, such as [0] and [1]. */
export function contextTag(number: number, constructed?: 'constructed'): number {
  return 0x80 | (constructed === undefined ? 0 : 0x20) | number;
}

/** A value with this tag. The parts are its content. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

export function set(...parts: readonly Uint8Array[]): Buffer {
  return der(0x31, ...parts);
}

/** A number of at least 0, as its bytes with the highest first. */
export function unsignedInteger(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : Buffer.from(bytes.subarray(first));
  // A first bit of 1 would make it negative.
  return (digits[0] ?? 0) < 0x80 ? der(0x02, digits) : der(0x02, Buffer.from([0]), digits);
}

export const booleanTrue = der(0x01, Buffer.from([0xff]));

export function octetString(content: Uint8Array): Buffer {
  return der(0x04, content);
}

/** @param unused bits at the end that do not count */
export function bitString(content: Uint8Array, unused = 0): Buffer {
  return der(0x03, Buffer.from([unused]), content);
}

export function utf8String(text: string): Buffer {
  return der(0x0c, Buffer.from(text));
}

/** @param dotted such as `2.5.4.3` */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...others].flatMap(base128)));
}

/** A time in whole seconds. As X.509 wants it, years until 2049 have two digits. */
export function time(epochMs: number): Buffer {
  const text = `${new Date(epochMs).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  const isShort = text < '2050';
  return der(isShort ? 0x17 : 0x18, Buffer.from(isShort ? text.slice(2) : text));
}

function base128(value: number): readonly number[] {
  const digits = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) | 0x80);
  return digits;
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length]);
  const digits: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.from([0x80 | digits.length, ...digits]);
}
