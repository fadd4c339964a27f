import { expect, onTestFinished, test } from 'vitest';
import { describedCrd, engineFixture } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { recordedLogger } from '../../../test/kit/recorded-logger.ts';
import { systemClock } from '../../base/clock.ts';
import { readAbstractKinds } from '../../catalog/abstract/read-abstract-kinds.ts';
import { AbstractKinds } from './abstract-kinds.ts';

const redis = (cluster: string, properties: object = { version: { type: 'string' } }) =>
  describedCrd({ cluster, kind: 'Redis', plural: 'redises', properties: { spec: { type: 'object', properties } } });
const member = (resource: string, path = 'spec.version') => ({ resource, columns: { version: path } });
const kindOf = (name: string, ...members: object[]) => ({ name, columns: { version: 'String' }, members });
const unserved = (names: string) =>
  `no cluster that could be read serves these members, or this gateway leaves them out: ${names}`;

test('members that no cluster serves are said once clusters are known, in the kind or in the log, once for each state', async () => {
  const fixture = engineFixture();
  await fixture.declare(redis('east'), redis('west'));
  const { entries, logger } = recordedLogger();
  let known = false;
  const writer = fixture.writer();
  const abstract = new AbstractKinds({
    writer,
    clock: systemClock,
    log: logger,
    membersKnown: () => known,
    isRestricted: false,
  });
  const declare = (...kinds: object[]) => {
    const read = readAbstractKinds({ abstractKinds: kinds });
    expect(read.problems).toEqual([]);
    abstract.declare(read.kinds);
  };
  const stop = new AbortController();
  declare(
    kindOf('apps', member('nothing.example.com'), member('redises.example.com', 'spec.verson'), member('none.a')),
    kindOf('others', member('nothing.example.com')),
  );
  const running = abstract.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await running;
  });
  const diagnostics = () =>
    Object.fromEntries(
      writer
        .states()
        .filter(({ handle }) => handle.key === 'apps.abstract')
        .map(({ handle, described }) => [handle.cluster, described.diagnostics.map(({ message }) => message)]),
    );
  const path = expect.stringContaining('the column version names a path that the schema');
  await eventually(() =>
    expect(diagnostics()).toEqual({ 'east/redises.example.com': [path], 'west/redises.example.com': [path] }),
  );
  expect(entries).toEqual([]);

  known = true;
  for (let times = 0; times < 3; times += 1) {
    abstract.wake([], true);
    await eventually(() =>
      expect(diagnostics()).toEqual({
        'east/redises.example.com': [path, unserved('nothing.example.com, none.a')],
        'west/redises.example.com': [path],
      }),
    );
  }
  expect(entries).toEqual([
    {
      level: 'warn',
      fields: { kind: 'others', problem: unserved('nothing.example.com') },
      text: 'an abstract kind has no objects',
    },
  ]);

  // The definition gets the field.
  writer.declare(redis('west', { verson: { type: 'string' } }));
  abstract.wake([], true);
  await eventually(() => expect(diagnostics()['west/redises.example.com']).toEqual([]));
  declare(kindOf('others', ...Array.from({ length: 13 }, (_, at) => member(`r${at}.a`))));
  await eventually(() => expect(entries).toHaveLength(2));
  expect(JSON.stringify(entries[1])).toContain('r8.a, r9.a and 3 more');
});
