/** `portolan query`: sends a GraphQL document to a running gateway and prints the answer as JSON. */
import { text } from 'node:stream/consumers';
import { getOperationAST, parse } from 'graphql';
import { messageOf, PortolanError } from '../../base/errors.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import { readSmallFile } from '../../base/read-small-file.ts';
import { exactObject } from './exact-json.ts';
import { GatewayClient, type RemoteConfig } from './gateway-client.ts';

/** The flags and arguments of the command line. */
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
    output: standardOutput,
  },
): Promise<number> {
  const gateway = new GatewayClient(remote);
  const document = await documentOf(flags, input);
  refuseSubscription(document, flags.operation);
  const named = flags.operation === undefined ? [] : [`"operationName":${JSON.stringify(flags.operation)}`];
  const given = flags.variables === undefined ? [] : [`"variables":${variablesOf(flags.variables)}`];
  const body = `{${[`"query":${JSON.stringify(document)}`, ...named, ...given].join()}}`;
  const answer = await gateway.post(body, patience);
  const read = exactObject(answer);
  if (read === null || !('data' in read || 'errors' in read)) throw gateway.notPortolan(answer);
  output.write(`${JSON.stringify(read, null, 2)}\n`);
  return 'errors' in read ? 1 : 0;
}

/** A text that does not parse is left to the gateway. @throws PortolanError CONFIGURATION for a subscription. */
function refuseSubscription(document: string, name: string | undefined): void {
  let operation: string | undefined;
  try {
    operation = getOperationAST(parse(document), name)?.operation;
  } catch {
    return;
  }
  if (operation !== 'subscription') return;
  throw new PortolanError(
    'CONFIGURATION',
    'portolan query prints one answer, and a subscription has many: run it with portolan watch.',
  );
}

/**
 * The document of the command line, of a file or of standard input.
 * @throws PortolanError CONFIGURATION for both, for an empty one, and for a file that cannot be read.
 */
export async function documentOf(
  { document, file }: Pick<QueryFlags, 'document' | 'file'>,
  input: NodeJS.ReadableStream,
): Promise<string> {
  if (document !== undefined && file !== undefined) {
    throw new PortolanError('CONFIGURATION', 'Give the document as an argument or with --file, not both.');
  }
  const found = await readDocument(document, file, input);
  if (found.trim() !== '') return found;
  throw new PortolanError(
    'CONFIGURATION',
    "The document is empty: give one, such as portolan query '{ pods { totalCount } }' or portolan watch pods.",
  );
}

async function readDocument(
  document: string | undefined,
  file: string | undefined,
  input: NodeJS.ReadableStream,
): Promise<string> {
  if (document !== undefined && document !== '-') return document;
  if (file === undefined || file === '-') return text(input);
  try {
    return readSmallFile(file).toString('utf8');
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `--file ${file} cannot be read: ${messageOf(error)}.`, { cause: error });
  }
}

/** The text itself. @throws PortolanError CONFIGURATION for text that is no JSON object. */
export function variablesOf(given: string): string {
  if (exactObject(given) !== null) return given;
  throw new PortolanError(
    'CONFIGURATION',
    '--variables must be a JSON object, such as {"first": 10}; quote it for the shell.',
  );
}
