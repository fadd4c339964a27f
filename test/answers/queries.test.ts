/**
 * Runs every example of docs/queries.md against the demo world; the answers must equal those on the page.
 * `npm test -- test/answers/queries.test.ts -u` updates the page.
 */
import { expect, test } from 'vitest';
import { demoGateway } from '../kit/demo-gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { readPage, withAnswers } from '../kit/written-page.ts';

const gateway = demoGateway({ pods: 200, churn: false });

test('every example answers as the page says', async () => {
  const answered = await withAnswers(readPage('docs/queries.md'), (query) => ask(gateway.url, query));
  expect(answered.examples).toBeGreaterThan(15);
  expect(answered.failing).toBe(1);
  await expect(answered.page).toMatchFileSnapshot('../../docs/queries.md');
});
