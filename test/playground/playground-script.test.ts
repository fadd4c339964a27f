/** The script in `src` is what `playground` bundles to, and the page around it fits to the installed GraphiQL. */
import { readFileSync } from 'node:fs';
import { js } from '@graphql-yoga/render-graphiql/graphiql';
import { expect, test } from 'vitest';
import { compilePlayground, playgroundModule } from '../../deploy/compile-playground.ts';
import { withPlugins } from '../../src/server/playground/parts.ts';

test('the committed module is the one that npm run playground makes', async () => {
  const committed = readFileSync(new URL(`../../${playgroundModule}`, import.meta.url), 'utf8');
  expect(committed).toBe(await compilePlayground());
});

test('the script cannot end the element that it stands in, and names nothing outside of the project', async () => {
  const text = await compilePlayground();
  expect(text).not.toMatch(/<\/script/i);
  expect(text).not.toContain('../');
});

test("GraphiQL's list of plugins is where the page adds its own", () => {
  expect(withPlugins(js)).toContain(',...globalThis.PortolanPlayground.plugins],schemaDescription:');
});
