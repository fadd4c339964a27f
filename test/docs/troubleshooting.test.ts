/** docs/troubleshooting.md: its queries run on the demo, and its messages are in the source code. */
import { describe, expect, test } from 'vitest';
import { demoGateway } from '../kit/demo-gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { sourceText } from '../kit/source-messages.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const page = readPage('docs/troubleshooting.md');

/** Messages of src/portolan.js and of libraries, and messages that the source code puts together. */
const others = new Set([
  'this is Node …',
  'Cannot query field "exampleComWidgets" on type "Query"',
  '--kinds names …, which no cluster serves',
  '… has no context …',
  'The kubeconfig … cannot be read',
]);

test('its messages are in the source code', () => {
  const texts = [...page.matchAll(/`([^`\n]+)`/g)].map(([, text = '']) => text);
  // A message is a sentence: it has spaces, and neither braces of a query nor the name of an option or program.
  const messages = texts.filter(
    (text) =>
      text.split(' ').length > 3 && !/[{}()]|^(--|npm|portolan|kubectl|list and)/.test(text) && !others.has(text),
  );
  expect(messages.length).toBeGreaterThan(15);
  const source = sourceText() + readPage('deploy/node.sh');
  // `…` stands for a value.
  const unknown = messages.filter((message) => !message.split('…').every((part) => source.includes(part.trim())));
  expect(unknown).toEqual([]);
});

describe('on the demo', () => {
  const gateway = demoGateway({ pods: 20, churn: false });

  test.each(blocksOf(page, 'graphql'))('%s', async (query) => {
    await data(gateway.url, query);
  });
});
