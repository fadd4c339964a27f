/** `npm run lock`: completes package-lock.json after npm has written it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../src/base/errors.ts';
import { completeLock, type Manifest } from './complete-lock.ts';

try {
  const at = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url));
  const text = readFileSync(at('package-lock.json'), 'utf8');
  const complete = completeLock(text, JSON.parse(readFileSync(at('package.json'), 'utf8')) as Manifest);
  if (complete !== text) writeFileSync(at('package-lock.json'), complete);
  process.stdout.write(`package-lock.json: ${complete === text ? 'is complete' : 'completed'}\n`);
} catch (error) {
  process.stderr.write(`lock: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
