// The script of `helm test`: asks the gateway at URL as a client would.
// AUTH is `token` for a query with the token in the file TOKEN, `none` for one without, and anything else for no query.
import { readFileSync } from 'node:fs';

const { URL: url, TOKEN: token, AUTH: auth } = process.env;

async function ask(path, options) {
  const answer = await fetch(url + path, { signal: AbortSignal.timeout(10_000), ...options });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return text;
}

await ask('/healthz');
if (auth === 'token' || auth === 'none') {
  const authorization = auth === 'token' ? { authorization: `Bearer ${readFileSync(token, 'utf8')}` } : {};
  const text = await ask('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...authorization },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  if (JSON.parse(text).data?.__typename !== 'Query') throw new Error(`The query got ${text}`);
}
process.stdout.write(`${url} answers.\n`);
