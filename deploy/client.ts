/** `npm run client [-- --out DIR]`: the npm package @portolan/client, for `npm pack` and `npm publish`. */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/errors.ts';
import { clientPackage, writeClient } from './write-client.ts';

try {
  const { values } = parseArgs({ options: { out: { type: 'string', default: 'dist-client' } } });
  writeClient(resolve(values.out));
  process.stdout.write(`${values.out}: ${clientPackage}. Pack it with: npm pack ./${values.out}\n`);
} catch (error) {
  process.stderr.write(`client: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
