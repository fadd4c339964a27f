/**
 * `npm run playground`: bundles the parts of the playground's page into web/playground/dist, if they are not there or not up to date. npm
 * also runs it after `npm ci`, as the script `prepare`.
 */
import { messageOf } from '../src/base/errors.ts';

try {
  const { playgroundFolder, writePlayground } = await import('./write-playground.ts');
  const { parts } = await writePlayground();
  process.stdout.write(`${playgroundFolder}: ${parts.length} parts\n`);
} catch (error) {
  const missing = error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND';
  process.stderr.write(
    `playground: ${missing ? 'the packages for development are not installed' : messageOf(error)}\n`,
  );
  process.exitCode = 1;
}
