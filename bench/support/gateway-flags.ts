/** The flags of Node with which `npm start` runs the gateway, besides those of this process. */
import { readFileSync } from 'node:fs';

export function gatewayFlags(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly scripts: { readonly start: string };
  };
  const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'));
  return [...new Set([...process.execArgv, ...flags])];
}
