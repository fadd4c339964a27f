/** `npm run build [-- --out DIR]`: the gateway bundled into few files, for images and packages; they start faster than the sources. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { writeBundle } from './bundle.ts';

try {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist' } } });
  const { bytes } = await writeBundle(resolve(values.out));
  process.stdout.write(
    `${values.out}: ${(bytes / 1e6).toFixed(1)} MB. Start it with: ${values.out}/src/portolan.js serve\n` +
      'Where it is moved to another machine, run npm install in it first.\n',
  );
} catch (error) {
  process.stderr.write(`build: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
