/**
 * The two loops over bytes that are WebAssembly, beside the same loops in plain TypeScript (test/kit/plain-*.ts), for several kinds of
 * JSON. Both read the same texts in turns. A ratio is the time of WebAssembly by that of TypeScript.
 *
 *   encode   makes JSONB of each text: src/store/jsonb/jsonb-encoder.ts
 *   scan     finds the end of each text in a list of them all: src/ingest/bytes/bracket-scan.ts
 */
import { parseArgs } from 'node:util';
import { load, openObject, scan } from '../src/ingest/bytes/bracket-scan.ts';
import { encodeJsonb } from '../src/store/jsonb/jsonb-encoder.ts';
import { plainScan } from '../test/kit/plain-bracket-scan.ts';
import { plainEncode } from '../test/kit/plain-jsonb-encoder.ts';
import { type ByteKind, byteKinds } from './support/byte-kinds.ts';

export const about = 'the WebAssembly loops over bytes beside plain TypeScript, for seven kinds of JSON (--turns N)';

interface Ratios {
  readonly encode: number;
  readonly scan: number;
}

/** The largest ratios that are accepted, by the kind of bytes: half as much again as was measured when they were set. */
const most: Readonly<Record<string, Ratios>> = {
  pods: { encode: 0.17, scan: 0.28 },
  indented: { encode: 0.19, scan: 0.24 },
  unicode: { encode: 0.14, scan: 0.29 },
  numbers: { encode: 0.24, scan: 0.24 },
  escapes: { encode: 0.4, scan: 0.48 },
  tiny: { encode: 0.19, scan: 0.65 },
  deep: { encode: 0.28, scan: 0.27 },
};

/** How long each loop runs in a turn, and before the first turn, until V8 has compiled it. */
const turnMs = 1;
const warmUpMs = 300;

/** The same work, done by WebAssembly and by plain TypeScript. */
interface Pair {
  readonly loop: keyof Ratios;
  readonly kind: string;
  readonly ours: () => void;
  readonly plain: () => void;
}

export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { turns: { type: 'string', default: '201' } } });
  const turns = Number(values.turns);
  if (!Number.isInteger(turns) || turns < 1) throw new Error('--turns takes a whole number above 0');
  const pairs = byteKinds.flatMap(pairsOf);
  // All kinds first: V8 compiles a loop once more for what it has not met before.
  for (const { ours, plain } of pairs) for (const work of [ours, plain]) warmUp(work);
  const ratios: Record<string, Partial<Ratios>> = {};
  for (const pair of pairs) {
    const measured = ratio(pair, turns);
    print(pair, measured);
    ratios[pair.kind] = { ...ratios[pair.kind], [pair.loop]: Number(measured.toFixed(3)) };
  }
  process.stdout.write(`${JSON.stringify({ bench: 'bytes', ratios })}\n`);
}

function pairsOf({ name, texts }: ByteKind): readonly Pair[] {
  const list = Buffer.from(`[${texts.join(',')}]`);
  const scanPlain: typeof scan = (from, to, stop, state) => plainScan(list, from, to, stop, state);
  return [
    {
      loop: 'encode',
      kind: name,
      ours: () => encodeAll(texts, (text) => encodeJsonb(text)?.jsonb),
      plain: () => encodeAll(texts, plainEncode),
    },
    {
      loop: 'scan',
      kind: name,
      ours: () => scanAll(list, texts.length, scan),
      plain: () => scanAll(list, texts.length, scanPlain),
    },
  ];
}

function encodeAll(texts: readonly Buffer[], encode: (text: Buffer) => Uint8Array | null | undefined): void {
  for (const text of texts) if (!encode(text)) throw new Error('a text was refused');
}

/** Finds the end of each item of the list. */
function scanAll(list: Buffer, items: number, scanItem: typeof scan): void {
  // A view of its own, so that the bytes count as others and are loaded.
  load(list.subarray());
  let found = 0;
  for (let at = 1; at < list.length; found += 1) {
    const end = scanItem(at, list.length, 0, openObject(0));
    if (end === -1) break;
    at = end + 2;
  }
  if (found !== items) throw new Error(`found ${found} of ${items} items`);
}

/** The time of `ours` by that of `plain`, each in its fastest turn, because other turns may have been interrupted. */
function ratio({ ours, plain }: Pair, turns: number): number {
  const [oursRounds, plainRounds] = [warmUp(ours), warmUp(plain)];
  const fastest = { ours: Number.POSITIVE_INFINITY, plain: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < turns; turn += 1) {
    fastest.ours = Math.min(fastest.ours, milliseconds(ours, oursRounds));
    fastest.plain = Math.min(fastest.plain, milliseconds(plain, plainRounds));
  }
  return fastest.ours / fastest.plain;
}

/** How many rounds fit into a turn. */
function warmUp(work: () => void): number {
  let fastest = Number.POSITIVE_INFINITY;
  for (let spent = 0; spent < warmUpMs; ) {
    const ms = milliseconds(work, 1);
    spent += ms;
    fastest = Math.min(fastest, ms);
  }
  return Math.ceil(turnMs / fastest);
}

/** The mean of so many rounds. */
function milliseconds(work: () => void, rounds: number): number {
  const began = performance.now();
  for (let round = 0; round < rounds; round += 1) work();
  return (performance.now() - began) / rounds;
}

function print({ loop, kind }: Pair, measured: number): void {
  const bound = most[kind]?.[loop] ?? 1;
  if (measured > bound) process.exitCode = 1;
  const verdict = measured <= bound ? 'kept' : 'MISSED';
  process.stdout.write(
    `${`${loop} ${kind}`.padEnd(18)} ${measured.toFixed(3)} of plain TypeScript   <= ${bound.toFixed(2)} ${verdict}\n`,
  );
}
