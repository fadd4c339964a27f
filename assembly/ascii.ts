/** The characters of JSON text by their codes. */
export const tab: i32 = 0x09;
export const lineFeed: i32 = 0x0a;
export const carriageReturn: i32 = 0x0d;
export const lastControl: i32 = 0x1f;
export const space: i32 = 0x20;
export const quote: i32 = 0x22;
export const plus: i32 = 0x2b;
export const comma: i32 = 0x2c;
export const minus: i32 = 0x2d;
export const dot: i32 = 0x2e;
export const slash: i32 = 0x2f;
export const digit0: i32 = 0x30;
export const digit9: i32 = 0x39;
export const colon: i32 = 0x3a;
export const openBracket: i32 = 0x5b;
export const backslash: i32 = 0x5c;
export const closeBracket: i32 = 0x5d;
export const a: i32 = 0x61;
export const b: i32 = 0x62;
export const e: i32 = 0x65;
export const f: i32 = 0x66;
export const n: i32 = 0x6e;
export const r: i32 = 0x72;
export const t: i32 = 0x74;
export const u: i32 = 0x75;
export const openBrace: i32 = 0x7b;
export const closeBrace: i32 = 0x7d;

/** For a letter, `byte | caseBit` is the lower-case letter. For a brace, `byte & ~caseBit` is the square bracket. */
export const caseBit: i32 = 0x20;
