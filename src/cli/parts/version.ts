/** The version of package.json. */
import { readFileSync } from 'node:fs';

const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');

export const { version } = JSON.parse(text) as { readonly version: string };
