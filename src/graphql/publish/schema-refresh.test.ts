/** Refreshes: several share a run, a change aborts a build, unchanged descriptions are not read. */
import { expect, test } from 'vitest';
import { describedCrd, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';

const crd = (name: string) =>
  describedCrd({ kind: name, plural: `${name.toLowerCase()}s`, properties: { spec: { type: 'object' } } });

/** An engine whose slices are one step each, and which calls `between` between steps. */
function stepping() {
  const state: { between: ((step: number) => void) | null } = { between: null };
  let step = 0;
  const clock: Clock = {
    ...systemClock,
    monotonic() {
      step += 1;
      const { between } = state;
      if (between !== null) queueMicrotask(() => between(step));
      return 1000 * step;
    },
  };
  const published: number[] = [];
  const errors: string[] = [];
  const fixture = engineFixture({
    log: {
      ...silentLogger,
      info: (fields) => void published.push((fields as { kinds: number }).kinds),
      error: (_fields, message) => void errors.push(message),
    },
    engine: { clock },
  });
  const declareSilently = (name: string): void => {
    fixture.writer().openCluster('east', 'uid-east');
    fixture.writer().declare(crd(name));
  };
  const runs = (): number => fixture.statements.filter(({ sql }) => sql.includes('catalog_version')).length;
  return { ...fixture, state, published, errors, declareSilently, runs };
}

test('changes during a run lead to one more run, and the outdated build is given up', async () => {
  const { declare, state, published, errors, declareSilently, runs, engine } = stepping();
  await declare(crd('First'));
  const [before, asked] = [runs(), [] as Promise<void>[]];
  state.between = (step) => {
    if (asked.length === 10 || step % 5 !== 0) return;
    declareSilently(`Later${asked.length}`);
    asked.push(engine.refreshCatalog());
  };
  declareSilently('Second');
  await engine.refreshCatalog();
  await Promise.all(asked);
  expect(asked).toHaveLength(10);
  expect(published.at(-1)).toBe(12);
  expect(published.length - 1).toBeLessThan(runs() - before);
  expect(runs() - before).toBeLessThan(10);
  expect(errors).toEqual([]);
});

test('a catalog that never rests is published all the same', async () => {
  const { declare, state, published, writer, engine } = stepping();
  await declare(crd('First'), crd('Second'));
  const asked: Promise<void>[] = [];
  state.between = () => {
    if (published.length > 3) return;
    writer().declare({ ...crd('Second'), description: `Change ${asked.length}.` });
    asked.push(engine.refreshCatalog());
  };
  await engine.refreshCatalog();
  await Promise.all(asked);
  expect(published.length).toBeGreaterThan(3);
  expect(engine.source.generation().kind('seconds.example.com')?.description).toBe(`Change ${asked.length - 1}.`);
});

test('the first generation is not given up', async () => {
  const { state, published, declareSilently, engine } = stepping();
  declareSilently('First');
  let again: Promise<void> | null = null;
  state.between = (step) => {
    if (step < 10 || again !== null) return;
    declareSilently('Second');
    again = engine.refreshCatalog();
  };
  await engine.refreshCatalog();
  await again;
  expect(published).toEqual([1, 2]);
});

test('a refresh resolves when what was declared before it is published', async () => {
  const { state, declareSilently, engine } = stepping();
  declareSilently('First');
  await engine.refreshCatalog();
  const seen: boolean[] = [];
  let asked = 0;
  state.between = (step) => {
    if (asked === 5 || step % 7 !== 0) return;
    asked += 1;
    const name = `Later${asked}`;
    declareSilently(name);
    void engine.refreshCatalog().then(() => {
      seen.push(engine.source.generation().kind(`${name.toLowerCase()}s.example.com`) !== undefined);
    });
  };
  declareSilently('Second');
  await engine.refreshCatalog();
  await expect.poll(() => seen).toEqual([true, true, true, true, true]);
});

test('only descriptions that changed are read, and kinds that did not change stay the same objects', async () => {
  const { declare, statements, engine } = engineFixture();
  await declare(widget(), gadget());
  const before = engine.source.generation();
  statements.length = 0;
  await declare({ ...gadget(), description: 'Another one.' });
  const texts = statements.filter(({ sql }) => sql.includes('SELECT rowid, json'));
  expect(texts.map(({ params }) => JSON.parse(String(params[0])))).toEqual([[expect.any(Number)]]);
  const after = engine.source.generation();
  expect(after).not.toBe(before);
  expect(after.kind(widgets)).toBe(before.kind(widgets));
  expect(after.schema.getType('ExampleComWidget')).toBe(before.schema.getType('ExampleComWidget'));
  expect(after.kind(gadgets)).not.toBe(before.kind(gadgets));

  statements.length = 0;
  await engine.refreshCatalog();
  expect(statements).toHaveLength(1);
  expect(engine.source.generation()).toBe(after);
});

test('closing ends a build', async () => {
  const { declare, state, published, errors, declareSilently, engine } = stepping();
  await declare(crd('First'));
  state.between = () => engine.close();
  declareSilently('Second');
  await engine.refreshCatalog();
  expect(published).toEqual([1]);
  expect(errors).toEqual([]);
  await engine.refreshCatalog();
  expect(published).toEqual([1]);
});

test('diagnostics that change alone are logged and answered, without another generation', async () => {
  const warned: string[] = [];
  const fixture = engineFixture({ log: { ...silentLogger, warn: (_fields, message) => void warned.push(message) } });
  const saying = (...messages: readonly string[]) => ({
    ...crd('First'),
    diagnostics: messages.map((message) => ({ cluster: 'east', resource: 'firsts.example.com', message })),
  });
  const answered = async (): Promise<unknown> =>
    (await fixture.query('{ resources { diagnostics } }')).data.resources[0].diagnostics;
  await fixture.declare(saying('one'));
  const { id } = fixture.engine.source.generation();
  await fixture.declare(saying('one', 'two'));
  expect(await answered()).toEqual(['one', 'two']);
  await fixture.declare(saying('two'));
  expect(await answered()).toEqual(['two']);
  await fixture.declare(saying('two'));
  expect(warned).toEqual(['one', 'two']);
  expect(fixture.engine.source.generation().id).toBe(id);
});
