/** `portolan query`: sends a GraphQL document to a running gateway and prints the answer as JSON. */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { GatewayClient, type RemoteConfig } from './gateway-client.ts';

/** What the command line asks. */
export interface QueryFlags {
  /** The document. Without it and without a file, it comes from standard input. */
  readonly document?: string;
  readonly file?: string;
  /** JSON. */
  readonly variables?: string;
  readonly operation?: string;
}

/** An operation may wait for a first sync and for a lease. */
const patience = 120_000;

/** Prints the whole answer. The exit code is 1 if it has errors. */
export async function query(
  remote: RemoteConfig,
  flags: QueryFlags,
  { input, output }: { readonly input: NodeJS.ReadableStream; readonly output: { write(text: string): unknown } } = {
    input: process.stdin,
    output: process.stdout,
  },
): Promise<number> {
  const gateway = new GatewayClient(remote);
  const document = await documentOf(flags, input);
  const named = flags.operation === undefined ? [] : [`"operationName":${JSON.stringify(flags.operation)}`];
  const given = flags.variables === undefined ? [] : [`"variables":${variablesOf(flags.variables)}`];
  const body = `{${[`"query":${JSON.stringify(document)}`, ...named, ...given].join()}}`;
  const answer = await gateway.post(body, patience);
  const read = exactly(answer);
  if (read === null || !('data' in read || 'errors' in read)) throw gateway.notPortolan(answer);
  output.write(`${JSON.stringify(read, null, 2)}\n`);
  return 'errors' in read ? 1 : 0;
}

async function documentOf({ document, file }: QueryFlags, input: NodeJS.ReadableStream): Promise<string> {
  if (document !== undefined && file !== undefined) {
    throw new PortolanError('CONFIGURATION', 'Give the document as an argument or with --file, not both.');
  }
  if (document !== undefined && document !== '-') return document;
  if (file === undefined || file === '-') return text(input);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `--file ${file} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

/** The text itself, because numbers of 64 bits are no JavaScript numbers. */
function variablesOf(given: string): string {
  if (exactly(given) !== null) return given;
  throw new PortolanError(
    'CONFIGURATION',
    '--variables must be a JSON object, such as {"first": 10}; quote it for the shell.',
  );
}

/** An object of JSON whose numbers are written again as they came; null for other text. */
function exactly(json: string): object | null {
  // TypeScript's library does not know this part of ECMAScript 2026 yet.
  const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };
  try {
    const read: unknown = JSON.parse(json, ((_key: string, value: unknown, { source }: { source: string }) =>
      typeof value === 'number' ? rawJSON(source) : value) as Parameters<typeof JSON.parse>[1]);
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? read : null;
  } catch {
    return null;
  }
}
