/** The messages that the source code can write, as patterns. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folders = ['src', 'sim'].map((name) => fileURLToPath(new URL(`../../${name}/`, import.meta.url)));
/** Shorter literals say too little. */
const leastCharacters = 12;

/** One pattern for each text of the source code. `${…}` of a template matches any text. */
export function sourceMessages(): readonly RegExp[] {
  return sourceFiles().flatMap(patternsIn);
}

/** The whole source code without tests and generated files. */
export function sourceText(): string {
  return sourceFiles().join('\n');
}

function sourceFiles(): readonly string[] {
  return folders
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
    .filter((file) => /\.[jt]s$/.test(file) && !file.endsWith('.test.ts') && !file.includes('generated'))
    .map((file) => readFileSync(file, 'utf8'));
}

function patternsIn(text: string): RegExp[] {
  const literals = [...text.matchAll(/'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`/g)];
  return literals.flatMap(([, single, double, template]) => {
    const literal = single ?? double ?? template ?? '';
    const parts = template === undefined ? [literal] : literal.split(/\$\{[^}]*\}/);
    const plain = parts.map((part) => part.replace(/\\(['"`\\])/g, '$1'));
    if (plain.join('').length < leastCharacters) return [];
    return [new RegExp(`^${plain.map((part) => RegExp.escape(part)).join('.+')}$`, 's')];
  });
}
