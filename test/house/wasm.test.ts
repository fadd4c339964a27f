/** The WebAssembly in `src` is what the sources in `assembly` compile to. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compileWasm } from '../../deploy/compile-wasm.ts';

const root = new URL('../..', import.meta.url);
const compiled = await compileWasm();

test('the committed modules are those that npm run wasm makes', () => {
  const committed = compiled.map(({ path }) => readFileSync(new URL(path, root), 'utf8'));
  expect(committed).toEqual(compiled.map(({ text }) => text));
});

test('src has no other compiled modules', () => {
  const source = fileURLToPath(new URL('src', root));
  const generated = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path.replaceAll('\\', '/')}`)
    .filter((path) => path.includes('/generated/'));
  expect(generated.sort()).toEqual(compiled.map(({ path }) => path).sort());
});
