/** The life of the introspection thread. */
import { execute, parse } from 'graphql';
import { expect, onTestFinished, test } from 'vitest';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import { gadget, widget } from '../../../test/kit/graphql-world.ts';
import { must } from '../../base/must.ts';
import { runSteps } from '../../base/steps.ts';
import { assembleCatalog, CatalogAssembler } from '../../catalog/assemble.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import type { Generation } from '../generation/generation.ts';
import { buildGeneration, GenerationBuilder } from '../schema/build-generation.ts';
import type { Made, Question } from './introspection-messages.ts';
import { IntrospectionThread, type ThreadOptions } from './introspection-thread.ts';

const document = '{ __schema { types { name description fields { name } } } }';
const question: Question = {
  document,
  operationName: null,
  variables: {},
  kinds: null,
  extensions: '{}',
  encoding: 'identity',
};

function threadOf(options: ThreadOptions = {}): IntrospectionThread {
  const thread = new IntrospectionThread(options);
  onTestFinished(() => thread.close());
  return thread;
}

/** Generations of one builder. */
function generations(): (...described: readonly DescribedResource[]) => Generation {
  const [assembler, builder] = [new CatalogAssembler(), new GenerationBuilder()];
  return (...described) => runSteps(builder.build(runSteps(assembler.assemble(described))));
}

const expected = ({ schema }: Generation): string =>
  JSON.stringify({ ...execute({ schema, document: parse(document) }), extensions: {} });

const textOf = async (answer: Promise<Made | null>) => Buffer.from(must(await answer, 'an answer').bytes).toString();

test('a thread is asked about one generation after another, back and forth', async () => {
  const generationOf = generations();
  const thread = threadOf();
  const [widgets, gadgets] = [widget(), gadget()];
  const all = [
    generationOf(widgets),
    generationOf(widgets, gadgets),
    generationOf({ ...widgets, description: 'Another.' }, gadgets),
    generationOf(gadgets),
    generationOf(),
  ];
  for (const generation of [...all, ...all.toReversed()]) {
    expect(await textOf(thread.ask(generation, question))).toBe(expected(generation));
  }
});

test('questions about several generations at once get the answers of theirs', async () => {
  const generationOf = generations();
  const thread = threadOf();
  const all = [generationOf(widget()), generationOf(gadget()), generationOf(widget(), gadget())];
  const answers = await Promise.all([...all, ...all].map((generation) => textOf(thread.ask(generation, question))));
  expect(answers).toEqual([...all, ...all].map(expected));
});

test('a kind that cannot be built is left out there too', async () => {
  const catalog = assembleCatalog([widget(), gadget()]);
  const [broken, whole] = catalog.kinds.map((kind) => must(kind, 'a kind'));
  const kinds = [must(broken, 'gadgets'), must(whole, 'widgets')].map((kind, i) =>
    i === 0 ? { ...kind, names: { ...kind.names, type: 'a b' } } : kind,
  );
  const generation = buildGeneration({ ...catalog, kinds });
  expect(generation.diagnostics).toHaveLength(1);
  expect(await textOf(threadOf().ask(generation, question))).toBe(expected(generation));
});

test('the thread ends when it is idle, and starts again', async () => {
  const thread = threadOf({ idleMs: 1 });
  const generation = generations()(widget());
  for (const _turn of [1, 2]) {
    expect(await textOf(thread.ask(generation, question))).toBe(expected(generation));
    await expect.poll(() => thread.isRunning).toBe(false);
  }
});

test('a thread that runs out of memory refuses the question, and the next one gets another thread', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 2000 }, (_, i) => [`field${i}`, { type: 'object', properties: { a: { type: 'string' } } }]),
  );
  const generationOf = generations();
  const thread = threadOf({ heapMb: 40 });
  const large = generationOf(describedCrd({ kind: 'Large', plural: 'larges', properties }));
  const all = `{ ${Array.from({ length: 190 }, (_, i) => `a${i}: __schema { types { name fields { name type { name } } } }`).join(' ')} }`;
  await expect(thread.ask(large, { ...question, document: all })).rejects.toMatchObject({ code: 'QUERY_TOO_COSTLY' });
  const small = generationOf(widget());
  expect(await textOf(thread.ask(small, question))).toBe(expected(small));
});

test('closing ends the thread and what waits for it', async () => {
  const thread = threadOf();
  const generation = generations()(widget());
  const waiting = thread.ask(generation, question);
  await expect.poll(() => thread.isRunning).toBe(true);
  await thread.close();
  await expect(waiting).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
  expect(thread.isRunning).toBe(false);
  await thread.close();
});

test('an execution with errors has no answer', async () => {
  const strict = 'query ($yes: Boolean!) { __schema { types { name @include(if: $yes) kind } } }';
  const asked = threadOf().ask(generations()(widget()), { ...question, document: strict });
  expect(await asked).toBeNull();
});
