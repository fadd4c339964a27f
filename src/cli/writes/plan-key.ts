/** The key of the ids of plans: that of --plan-key-file, or one of this start. */
import { randomBytes } from 'node:crypto';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { readSmallFile } from '../../base/read-small-file.ts';

const leastBytes = 32;
const mostBytes = 65_536;

/** The bytes of the file, also its line breaks. @throws PortolanError CONFIGURATION for a file that cannot be used. */
export function planKey(file: string | undefined): Uint8Array {
  if (file === undefined) return randomBytes(leastBytes);
  const key = bytesOf(file);
  if (key.length >= leastBytes) return key;
  throw new PortolanError(
    'CONFIGURATION',
    `--plan-key-file ${file} has ${key.length} bytes, and a key has at least ${leastBytes}: make one with openssl rand -out ${file} ${leastBytes}.`,
  );
}

function bytesOf(file: string): Uint8Array {
  try {
    return readSmallFile(file, mostBytes);
  } catch (error) {
    const message = `--plan-key-file ${file} cannot be read: ${messageOf(error)}.`;
    throw new PortolanError('CONFIGURATION', message, { cause: error });
  }
}
