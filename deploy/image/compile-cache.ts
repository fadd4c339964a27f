/**
 * Loads every module of a bundle once, so that Node's compile cache holds all of them:
 *
 *   node --predictable --import ./deploy/image/compile-cache.ts /portolan/src/portolan.js --version
 *
 * portolan.js sets V8's flags and opens the cache, then prints the version. Then this module imports the others of the bundle, and Node
 * writes the cache as the process ends. The modules of threads refuse to run here, after they have been compiled.
 *
 * Two runs write the same bytes. V8 stores the hashes of names. It makes them with a random seed, which `--predictable` fixes. V8 also
 * stores the functions that have run. Which ones these are depends on time in a gateway that serves, but not here. A cache is valid only
 * for processes with the same flags of V8, but V8 does not count `--predictable` among them.
 *
 * The name of the cache's folder has Node's version, the processor's architecture, the flags and the number of the user. So the user of the
 * image must run this.
 */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

process.once('beforeExit', async () => {
  const bundle = join(dirname(process.argv[1] ?? ''), 'bundle');
  for (const name of readdirSync(bundle).toSorted()) {
    if (name.endsWith('.js')) await import(pathToFileURL(join(bundle, name)).href).catch(() => {});
  }
  process.exit();
});
