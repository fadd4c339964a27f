#!/usr/bin/env -S node --v8-pool-size=1 --max-semi-space-size=16
/**
 * The entry point: `portolan` on the command line. It is plain JavaScript, because an older Node cannot parse TypeScript and could not
 * report its version otherwise.
 *
 * Compile cache: V8's compiled code is kept in node_modules/.cache, so that later starts do not compile again. A user who can write
 * there can change the packages too, so the cache adds no risk. If NODE_COMPILE_CACHE names another folder, that one is used. If the
 * folder cannot be written, Node runs without a cache.
 *
 * `--no-wasm-code-gc`: V8 shares the machine code of WebAssembly between threads (undici's HTTP parser, Node's TypeScript parser). Up to
 * Node 24.21 it may free code that another thread is about to use, and the process dies ("Check failed: jit_page.has_value()"). So that
 * code, a few hundred kilobytes, is never freed. The flags are part of the cache's key, so they are set before the cache is opened.
 *
 * `--heap-growing-percent=100`: V8 collects an old generation each time it has doubled. By default V8 chooses the growth itself. Of a heap
 * that has been large, it then collects a few megabytes each second, and each collection stops the thread for 10 to 40 ms. Garbage that
 * callers make grows the process by as much as the growth allows.
 *
 * `--v8-pool-size=1`: V8 starts four worker threads on any machine, and each scavenge waits for all workers that it woke. The gateway
 * has about as many threads of its own, so one worker is enough; on two processors the first sync is faster. Node accepts this option
 * only on its command line, so it is in the first line and in package.json. Without it the gateway works the same.
 *
 * `--max-semi-space-size=16`: Node 24 lets the young generation of the main thread grow to 128 MB. A busy gateway keeps the buffers of
 * sent messages until it is full. The unit is a megabyte.
 *
 * `--memory-saver-mode`: `serve` turns it on and off (cli/parts/memory-saver.ts). The mode that was on and is off again has another key of the
 * cache than the mode that never was on. So it is turned on and off before the cache is opened.
 */
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const major = Number(process.versions.node.split('.')[0]);
if (major >= 24) {
  setFlagsFromString('--no-wasm-code-gc');
  setFlagsFromString('--heap-growing-percent=100');
  for (const mode of ['--memory-saver-mode', '--no-memory-saver-mode']) setFlagsFromString(mode);
  const cacheFolder = fileURLToPath(new URL('../node_modules/.cache/portolan', import.meta.url));
  const { directory } = module.enableCompileCache(process.env.NODE_COMPILE_CACHE || cacheFolder);
  // Worker threads read the folder from the environment.
  if (directory !== undefined) process.env.NODE_COMPILE_CACHE = directory;
  import('./main.ts').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const [missing] = error.message.split(' imported from');
    process.stderr.write(`portolan: ${missing}; run npm ci in the repository, or npm install beside a bundle.\n`);
    process.exitCode = 1;
  });
} else {
  process.stderr.write(
    `portolan: this is Node ${process.versions.node} and Portolan needs 24 or later; start it with npm (npm run demo), which brings its own, or put node_modules/.bin on the PATH.\n`,
  );
  process.exitCode = 1;
}
