/** `npm run playground`: bundles the script of the playground's page into src. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/base/errors.ts';
import { compilePlayground, playgroundModule } from './compile-playground.ts';

try {
  const file = fileURLToPath(new URL(`../${playgroundModule}`, import.meta.url));
  const text = await compilePlayground();
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  process.stdout.write(`${playgroundModule}: ${text.length} characters\n`);
} catch (error) {
  process.stderr.write(`playground: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
