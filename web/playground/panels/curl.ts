/** The command that sends a request from a shell. */
import { chosenOperation } from '../chosen-operation.ts';

interface ShellRequest {
  readonly query: string;
  /** JSON of the variables editor; may be empty. */
  readonly variables: string;
  /** JSON of the header editor; may be empty. */
  readonly headers: string;
  readonly operationName: string | null;
}

/**
 * @param authenticates must callers authenticate? The command then has a placeholder for the token: a shell keeps its history in a file.
 */
export function curlOf(
  endpoint: string,
  { query, variables, headers, operationName }: ShellRequest,
  authenticates: boolean,
): string {
  const operation = chosenOperation(query, operationName);
  const body = {
    query,
    ...(variables.trim() === '' ? {} : { variables: parsed(variables) }),
    ...(operation?.name == null ? {} : { operationName: operation.name }),
  };
  const given = Object.entries(parsed(headers));
  const isCredential = (name: string): boolean => name.toLowerCase() === 'authorization';
  const isLive = operation?.type === 'subscription';
  return [
    `curl -sS${isLive ? 'N' : ''} ${quoted(endpoint)}`,
    `-H 'content-type: application/json'`,
    ...(isLive ? [`-H 'accept: text/event-stream'`] : []),
    ...(authenticates || given.some(([name]) => isCredential(name)) ? ['-H "authorization: Bearer $TOKEN"'] : []),
    ...given.filter(([name]) => !isCredential(name)).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(JSON.stringify(body))}`,
  ].join(' \\\n  ');
}

/** Empty if the text is not the JSON of an object: a person may be writing it. */
function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

/** One word for a POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
