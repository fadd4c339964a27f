#!/usr/bin/env node
/**
 * The way in: `portolan` on the command line. Plain JavaScript, because a Node that is too old cannot read the rest, and could not
 * say why.
 *
 * What V8 compiles is kept beside the packages it was compiled from, so that the next start need not do it again: whoever can write
 * there can write the code itself. Where nobody can, or where NODE_COMPILE_CACHE names another folder, that is respected.
 */
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const major = Number(process.versions.node.split('.')[0]);
if (major >= 24) {
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
