#!/usr/bin/env -S node --v8-pool-size=1
/**
 * The way in: `portolan` on the command line. Plain JavaScript, because a Node that is too old cannot read the rest, and could not
 * say why.
 *
 * What V8 compiles is kept beside the packages it was compiled from, so that the next start need not do it again: whoever can write
 * there can write the code itself. Where nobody can, or where NODE_COMPILE_CACHE names another folder, that is respected.
 *
 * V8 shares machine code of WebAssembly between the threads of a process: undici's parser of HTTP, Node's own reader of TypeScript.
 * Up to Node 24.21 it may free a piece while another thread takes it, and the process dies ("Check failed: jit_page.has_value()"), so
 * such code is never freed here. That is a few hundred kilobytes. Which flags are set is part of what compiled code is kept under:
 * they are set before any is looked for.
 *
 * V8 has four threads of its own, however few processors there are, and each collection of young objects waits for all that it has
 * woken. Beside ours, which are as many, one is enough (`--v8-pool-size=1`), and first syncs are quicker for it where there
 * are two processors. Node takes this on its command line only, so it stands above and in package.json; without it nothing else changes.
 */
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const major = Number(process.versions.node.split('.')[0]);
if (major >= 24) {
  setFlagsFromString('--no-wasm-code-gc');
  const kept = fileURLToPath(new URL('../node_modules/.cache/portolan', import.meta.url));
  const { directory } = module.enableCompileCache(process.env.NODE_COMPILE_CACHE || kept);
  // Threads look for it there.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
  import('./main.ts');
} else {
  process.stderr.write(
    `portolan: this is Node ${process.versions.node} and Portolan needs 24 or later; start it with npm (npm run demo), which brings its own.\n`,
  );
  process.exitCode = 1;
}
