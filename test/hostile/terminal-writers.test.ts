/** Only one file writes to standard output and standard error, so that every text passes its check. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** What writes to an output of the process, or passes one on. Listeners for errors of an output do not write. */
const writer =
  /process\.(?:stdout|stderr)(?!\.(?:on|removeAllListeners)\()|\bconsole\.\w+\(|\bwriteSync\(|\/dev\/(?:tty|stdout|stderr)|stdio:.*inherit/;

const files = ['src', 'sim']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  )
  .filter((name) => /\.(?:ts|js)$/.test(name) && !/\.test\.ts$|generated\//.test(name));

test('no other file writes to them', () => {
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((name) => writer.test(code(name))).toSorted()).toEqual([
    'src/base/output/standard-streams.ts',
    // The editor of `portolan edit` has the terminal.
    'src/cli/mutations/edited-text.ts',
    // A serve process has the outputs of the gateway, and writes to them by the same file.
    'src/cli/processes/serve-process.ts',
    // One fixed sentence for a Node that cannot read TypeScript.
    'src/portolan.js',
    // It writes into a file of its own.
    'src/store/file/seal-copy.ts',
  ]);
});

/** The text without comments. */
function code(name: string): string {
  return readFileSync(join(root, name), 'utf8').replace(/^\s*(?:\/?\*|\/\/).*$/gm, '');
}
