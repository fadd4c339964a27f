/** GraphQL over HTTP: every audit of graphql-http against the endpoint, without a socket. */
import { serverAudits } from 'graphql-http';
import { describe, expect, test } from 'vitest';
import { handMadeSource } from '../src/server/testing/hand-made-source.ts';
import { createYogaServer } from '../src/server/yoga-server.ts';

const { source, log } = handMadeSource();
const yoga = createYogaServer({ source, log, tabs: [] });
const audits = serverAudits({ url: 'http://127.0.0.1/graphql', fetchFn: yoga.fetch });

describe('GraphQL over HTTP', () => {
  test('there are audits to pass', () => {
    expect(audits.length).toBeGreaterThan(50);
  });

  test.each(audits.map((audit) => [audit.id, audit.name, audit] as const))('%s %s', async (_id, _name, audit) => {
    const result = await audit.fn();
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok');
  });
});
