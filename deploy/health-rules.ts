/**
 * `npm run health-rules`: reads and checks schema/health-rules.yaml, and writes schema/generated/health-rules.json. A start reads the JSON,
 * because YAML of this size would delay it by a quarter of a second.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import { readHealthRules } from '../src/catalog/health/read-health-rules.ts';

const at = (path: string): URL => new URL(`../schema/${path}`, import.meta.url);
const { rules, problems } = readHealthRules(parse(readFileSync(at('health-rules.yaml'), 'utf8')), 'SHIPPED');
if (problems.length > 0) {
  process.stderr.write(`health-rules: ${problems.join('\nhealth-rules: ')}\n`);
  process.exitCode = 1;
} else {
  mkdirSync(at('generated'), { recursive: true });
  const lines = rules.map(({ kind, declared }) => JSON.stringify({ kind, cases: declared.cases }));
  writeFileSync(at('generated/health-rules.json'), `[${lines.join(',\n')}]\n`);
  process.stdout.write(`schema/generated/health-rules.json: ${rules.length} rules\n`);
}
