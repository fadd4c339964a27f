/** `npm run wasm`: compiles the sources of `assembly` into the modules of src that hold WebAssembly. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/base/errors.ts';
import { compileWasm } from './compile-wasm.ts';

try {
  for (const { path, text, bytes } of await compileWasm()) {
    const file = fileURLToPath(new URL(`../${path}`, import.meta.url));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    process.stdout.write(`${path}: ${bytes} bytes of WebAssembly\n`);
  }
} catch (error) {
  process.stderr.write(`wasm: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
