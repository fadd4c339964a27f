/**
 * Compiles the loops of `assembly` to WebAssembly, as TypeScript modules that hold the bytes in base64.
 *
 *   assembly/bracket-scan.ts   -> src/ingest/generated/bracket-scan.ts
 *   assembly/jsonb-encoder.ts  -> src/store/generated/jsonb-encoder.ts
 *
 * These modules are committed, so Node, the tests and the bundle need no compiler. test/house/wasm.test.ts compares them with a fresh
 * compile. The compiler's version is pinned, because another one may make other bytes.
 */
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import { PortolanError } from '../src/base/errors.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

const outputs = {
  'assembly/bracket-scan.ts': 'src/ingest/generated/bracket-scan.ts',
  'assembly/jsonb-encoder.ts': 'src/store/generated/jsonb-encoder.ts',
} as const;

const options = [
  ...['--baseDir', root],
  ...['--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert'],
  // The sources allocate nothing.
  ...['--runtime', 'stub'],
  ...['--enable', 'simd'],
  // In pages of 64 KiB. The modules of src let it grow.
  ...['--initialMemory', '1'],
  // Some hosts cannot exchange vectors with a module. Vectors pass between the files of `assembly` alone.
  ...['--disableWarning', '112'],
  '--noColors',
];

interface CompiledModule {
  /** Below the project's folder. */
  readonly path: string;
  /** The text of the module. */
  readonly text: string;
  /** Of WebAssembly. */
  readonly bytes: number;
}

/** Throws CONFIGURATION with the compiler's errors and warnings. */
export async function compileWasm(): Promise<readonly CompiledModule[]> {
  const modules: CompiledModule[] = [];
  for (const [source, path] of Object.entries(outputs)) {
    const wasm = await compile(source);
    modules.push({ path, text: moduleText(source, wasm), bytes: wasm.length });
  }
  return modules;
}

async function compile(source: string): Promise<Uint8Array> {
  let wasm: Uint8Array = new Uint8Array();
  const { error, stderr } = await asc.main([source, '--outFile', 'module.wasm', ...options], {
    writeFile(_name, contents) {
      if (typeof contents !== 'string') wasm = contents;
    },
  });
  const messages = stderr.toString();
  if (error !== null || messages !== '') {
    throw new PortolanError('CONFIGURATION', `${source} does not compile: ${messages || error?.message}`);
  }
  return wasm;
}

function moduleText(source: string, wasm: Uint8Array): string {
  const base64 = Buffer.from(wasm).toString('base64');
  const lines = base64.match(/.{1,100}/g) ?? [];
  return (
    `/** ${source}, compiled by \`npm run wasm\`. */\n` +
    `export const wasm: string =\n${lines.map((line) => `  '${line}'`).join(' +\n')};\n`
  );
}
