/** Is it what GraphQL over HTTP allows, with a code for every error, none of which is a defect? */

export const medias = ['application/json', 'application/graphql-response+json'] as const;
export type Media = (typeof medias)[number];

/** What is wrong with the answer, or null. @param text the body as it came. */
export function wrongWith(
  media: Media,
  subscription: boolean,
  status: number,
  type: string | null,
  text: string,
): string | null {
  // A subscription cannot be answered in any of these: GraphQL over HTTP has nothing to say, and HTTP says it all.
  if (status === 406 && text === '') return null;
  if (type?.startsWith(media) !== true && type?.startsWith('application/json') !== true)
    return `the content type is ${type}`;
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    return 'the body is no JSON';
  }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return 'the body is no object';
  const { data, errors, ...rest } = answer as Record<string, unknown>;
  const strange = Object.keys(rest).filter((name) => name !== 'extensions');
  if (strange.length > 0) return `the answer has ${strange.join(', ')}`;
  if (data === undefined && errors === undefined) return 'there are neither data nor errors';
  if (data !== undefined && (typeof data !== 'object' || Array.isArray(data))) return 'the data are no object';
  if (data === null && errors === undefined) return 'the data are null and nothing says why';
  if (data !== undefined && status !== 200) return `an execution was answered with ${status}`;
  // Yoga answers a subscription that cannot begin with 200, as it would a stream.
  if (
    data === undefined &&
    !subscription &&
    media !== 'application/json' &&
    (status < 400 || status > 503 || status === 500)
  ) {
    return `a refused request was answered with ${status}`;
  }
  if (errors === undefined) return null;
  if (!Array.isArray(errors) || errors.length === 0) return 'errors is no list with something in it';
  for (const each of errors as unknown[]) {
    const problem = wrongError(each);
    if (problem !== null) return `${problem}: ${JSON.stringify(each)}`;
  }
  return null;
}

function wrongError(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return 'an error is no object';
  const { message, path, locations, extensions } = error as Record<string, unknown>;
  if (typeof message !== 'string' || message === '') return 'an error has no message';
  if (path !== undefined && !Array.isArray(path)) return 'the path of an error is no list';
  if (locations !== undefined && !Array.isArray(locations)) return 'the locations of an error are no list';
  const code = typeof extensions === 'object' && extensions !== null && 'code' in extensions ? extensions.code : null;
  if (typeof code !== 'string' || code === '') return 'an error has no code';
  return code === 'INTERNAL_SERVER_ERROR' ? 'a defect' : null;
}
