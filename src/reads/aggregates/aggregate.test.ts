import { describe, expect, test } from 'vitest';
import { engineFixture, type FixtureOptions, made } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';

/** Six widgets in two clusters. Two gadgets own the widgets of the first cluster. */
async function world(options: FixtureOptions = {}) {
  const fixture = engineFixture(options);
  await fixture.declare(widget(), gadget(), widget('west'));
  const one = (name: string, spec: object, phase: string | null, labels = {}) =>
    made({
      name,
      labels,
      spec,
      ...(phase === null ? {} : { status: { phase } }),
      owner: { uid: name === 'a' ? 'u1' : 'u2' },
    });
  await fixture.sync(widgets, [
    one(
      'a',
      {
        replicas: 3,
        total: '9007199254740993',
        ratio: 0.1,
        tags: ['x', 'y', 'x'],
        at: '2026-01-31T13:00:00+01:00',
        ports: [{ number: 80 }, { number: 443 }],
      },
      'Running',
      { app: 'web' },
    ),
    one(
      'b',
      {
        replicas: 1,
        total: '9007199254740993',
        ratio: 0.2,
        tags: ['y'],
        at: '2026-01-31T12:00:00Z',
        ports: [{ number: 80 }],
      },
      'Running',
      { app: 'web' },
    ),
    one('c', { replicas: 2, tags: [], at: '2026-02-01T00:00:00Z' }, 'Failed', { app: 'db' }),
    one('d', { ratio: 1.5 }, null),
  ]);
  await fixture.sync(widgets, [one('e', { replicas: 5, tags: ['Xylem'] }, 'Running'), one('f', {}, 'Pending')], 'west');
  await fixture.sync(gadgets, [
    made({ name: 'g1', namespace: null, uid: 'u1', spec: { total: 7 } }),
    made({ name: 'g2', namespace: null, uid: 'u2' }),
  ]);
  const ask = async (fields: string, variables?: Readonly<Record<string, unknown>>) => {
    const { data, errors, operation } = await fixture.query(
      `query ${fields.includes('$path') ? '($path: Path = "spec.replicas")' : ''} { exampleComWidgets { ${fields} } }`,
      variables,
    );
    return {
      list: data?.exampleComWidgets,
      errors: errors.map(({ originalError }) => originalError),
      told: operation.extensions()['notAfforded'],
    };
  };
  return { ...fixture, ask };
}

describe('aggregate', () => {
  test('counts and adds up exactly, in one statement', async () => {
    const { ask, statements } = await world();
    statements.length = 0;
    const { list, errors } = await ask(
      `aggregate { count
      replicas: sum(path: $path) { number text } mean: avg(path: $path) { number text }
      total: sum(path: "spec.total") { number text } ratio: sum(path: "spec.ratio") { text }
      ...Ends ports: sum(path: "spec.ports[].number") { text } none: sum(path: "metadata.generation") { text } }`.replace(
        '...Ends',
        '... on Aggregate { min(path: "spec.at") max(path: "spec.at") least: min(path: "spec.tags[]") phase: max(path: "status.phase") }',
      ),
    );
    expect(errors).toEqual([]);
    expect(list.aggregate).toEqual({
      count: 6,
      replicas: { number: 11, text: '11' },
      mean: { number: 2.75, text: '2.75' },
      total: { number: 18014398509481984, text: '18014398509481986' },
      ratio: { text: '1.8' },
      min: '2026-01-31T12:00:00Z',
      max: '2026-02-01T00:00:00Z',
      least: 'Xylem',
      phase: 'Running',
      ports: { text: '603' },
      none: null,
    });
    expect(statements.filter(({ sql }) => sql.includes('count(*) AS n'))).toHaveLength(1);
  });

  test('identical ones are read once, and the filter of the list holds', async () => {
    const { query, statements } = await world();
    statements.length = 0;
    const list =
      'exampleComWidgets(filter: { status: { phase: { eq: "Running" } } }) { aggregate { count sum(path: "spec.replicas") { text } } }';
    const { data } = await query(`{ a: ${list} b: ${list} }`);
    expect(data.a).toEqual({ aggregate: { count: 3, sum: { text: '9' } } });
    expect(data.b).toEqual(data.a);
    expect(statements.filter(({ sql }) => sql.includes('count(*) AS n'))).toHaveLength(1);
  });

  test('over several kinds the parts are added up; a kind without the path has no value', async () => {
    const { query } = await world();
    const { data, errors } = await query(`{ objects(kinds: ["Widget", "Gadget"]) { totalCount aggregate { count
      sum(path: "spec.total") { text } max(path: "spec.total") ratio: avg(path: "spec.ratio") { text }
      groups(by: ["kind"]) { keys aggregate { count sum(path: "spec.total") { text } } } } } }`);
    expect(errors).toEqual([]);
    expect(data.objects).toEqual({
      totalCount: 8,
      aggregate: {
        count: 8,
        sum: { text: '18014398509481993' },
        max: '9007199254740993',
        ratio: { text: '0.6' },
        groups: [
          { keys: ['Widget'], aggregate: { count: 6, sum: { text: '18014398509481986' } } },
          { keys: ['Gadget'], aggregate: { count: 2, sum: { text: '7' } } },
        ],
      },
    });
  });

  test('of what objects own, for all of them at once', async () => {
    const { query, statements } = await world();
    statements.length = 0;
    const { data, errors } = await query(`{ exampleComGadgets { nodes { metadata { name } owned {
      aggregate { count sum(path: "spec.replicas") { text } groups(by: ["status.phase"], orderBy: [{ by: KEY, direction: ASC }]) { keys aggregate { count } } }
      facets(paths: ["metadata.labels[\\"app\\"]"]) { values { value count } } } } } }`);
    expect(new Set(errors.map(({ message }) => message))).toEqual(
      new Set(['spec.replicas has different types in these kinds; use something they share.']),
    );
    expect(data).toEqual({ exampleComGadgets: { nodes: [expect.anything(), expect.anything()] } });
    const again = await query(`{ exampleComGadgets { nodes { metadata { name } owned(kinds: ["Widget"]) {
      aggregate { count sum(path: "spec.replicas") { text } groups(by: ["status.phase"], orderBy: [{ by: KEY, direction: ASC }]) { keys aggregate { count } } }
      facets(paths: ["metadata.labels[\\"app\\"]"]) { values { value count } } } } } }`);
    expect(again.errors).toEqual([]);
    expect(again.data.exampleComGadgets.nodes).toEqual([
      {
        metadata: { name: 'g1' },
        owned: {
          aggregate: { count: 1, sum: { text: '3' }, groups: [{ keys: ['Running'], aggregate: { count: 1 } }] },
          facets: [{ values: [{ value: 'web', count: 1 }] }],
        },
      },
      {
        metadata: { name: 'g2' },
        owned: {
          aggregate: {
            count: 3,
            sum: { text: '3' },
            groups: [
              { keys: ['Failed'], aggregate: { count: 1 } },
              { keys: ['Running'], aggregate: { count: 1 } },
              { keys: [null], aggregate: { count: 1 } },
            ],
          },
          facets: [
            {
              values: [
                { value: 'db', count: 1 },
                { value: 'web', count: 1 },
                { value: null, count: 1 },
              ],
            },
          ],
        },
      },
    ]);
  });

  test('of owners', async () => {
    const { query } = await world();
    const { data, errors } = await query(
      '{ exampleComWidgets(first: 2) { nodes { owners { aggregate { count sum(path: "spec.total") { text } } } } } }',
    );
    expect(errors).toEqual([]);
    expect(data.exampleComWidgets.nodes.map((node: { owners: unknown }) => node.owners)).toEqual([
      { aggregate: { count: 1, sum: { text: '7' } } },
      { aggregate: { count: 1, sum: null } },
    ]);
  });

  test('adds up values of free JSON as what they are, also of groups', async () => {
    const { query, sync } = await world();
    const free = (name: string, phase: string, v: unknown) =>
      made({ name, spec: { free: { v, list: [{ v }, { v: '1' }] } }, status: { phase } });
    await sync(widgets, [
      free('a', 'x', '500m'),
      free('b', 'x', '1'),
      free('c', 'y', 0.25),
      free('d', 'y', '9007199254740993'),
      free('e', 'y', 'many'),
    ]);
    const { data, errors } = await query(`{ exampleComWidgets(filter: { clusters: ["east"] }) { aggregate {
      number: sum(path: "spec.free.v", as: NUMBER) { number text } quantity: sum(path: "spec.free.v", as: QUANTITY) { text }
      mean: avg(path: "spec.free.v", as: QUANTITY) { text } list: sum(path: "spec.free.list[].v", as: NUMBER) { text }
      text: max(path: "spec.free.v") most: max(path: "spec.free.v", as: NUMBER) least: min(path: "spec.free.v", as: NUMBER)
      groups(by: ["status.phase"], having: [{ value: MAX, path: "spec.free.v", as: QUANTITY, lte: "1" }],
        orderBy: [{ by: SUM, path: "spec.free.v", as: QUANTITY }]) { keys aggregate { sum(path: "spec.free.v", as: QUANTITY) { text } } }
      all: groups(by: ["status.phase"], orderBy: [{ by: MIN, path: "spec.free.v", as: QUANTITY, direction: ASC }]) { keys } } } }`);
    expect(errors).toEqual([]);
    expect(data.exampleComWidgets.aggregate).toEqual({
      number: { number: 9007199254740994, text: '9007199254740994.25' },
      quantity: { text: '9007199254740994.75' },
      mean: { text: '2251799813685248.6875' },
      list: { text: '9007199254740999.25' },
      text: 'many',
      most: '9007199254740993',
      least: 0.25,
      groups: [{ keys: ['x'], aggregate: { sum: { text: '1.5' } } }],
      all: [{ keys: ['y'] }, { keys: ['x'] }],
    });
  });

  test('what cannot be measured is refused by name, and what stands beside it is answered', async () => {
    const { ask } = await world();
    const refused = [
      [
        'sum(path: "status.phase") { text }',
        'sum adds up numbers, quantities and durations, and status.phase is String. Add as: NUMBER or as: QUANTITY if',
      ],
      ['avg(path: "spec.at") { text }', 'avg adds up numbers, quantities and durations, and spec.at is DateTime'],
      ['sum(path: "spec.replica") { text }', 'did you mean "replicas"?'],
      ['max(path: "spec.tags")', 'spec.tags[] goes through its elements'],
      ['max(path: "spec.")', 'needs a name here'],
      ['groups(by: []) { cursor }', '`by` takes 1 to 8 paths'],
      ['groups(by: ["spec"]) { cursor }', 'spec is a object'],
      ['groups(by: ["status.phase"], first: 501) { cursor }', 'must be from 0 to 500'],
      ['groups(by: ["status.phase"], orderBy: [{ by: SUM }]) { cursor }', 'SUM needs a `path`'],
      ['groups(by: ["status.phase"], orderBy: [{ by: COUNT, path: "spec.at" }]) { cursor }', 'takes no `path`'],
      [
        'groups(by: ["status.phase"], orderBy: [{ by: KEY, path: "spec.at" }]) { cursor }',
        'of one of `by`: status.phase',
      ],
      ['groups(by: ["status.phase"], orderBy: [{ as: NUMBER }]) { cursor }', 'COUNT takes no `as`'],
      ['groups(by: ["status.phase"], having: [{ as: NUMBER, eq: 1 }]) { cursor }', 'COUNT takes no `as`'],
      ['sum(path: "status.phase", as: TIME) { text }', 'status.phase as TIME is Time'],
      ['max(path: "spec.paused", as: NUMBER)', 'as: NUMBER does not apply to spec.paused, which is Boolean'],
      ['groups(by: ["status.phase"], after: "x") { cursor }', 'is not a cursor'],
    ] as const;
    for (const [field, message] of refused) {
      const { list, errors } = await ask(`aggregate { count wrong: ${field} }`);
      expect(errors, field).toMatchObject([{ code: 'BAD_USER_INPUT', message: expect.stringContaining(message) }]);
      expect(list.aggregate).toEqual({ count: 6, wrong: null });
    }
  });
});

describe('groups', () => {
  const texts = (groups: readonly { keys: unknown[]; aggregate: { count: number } }[]): string =>
    groups.map(({ keys, aggregate }) => `${keys.join('+')}=${aggregate.count}`).join(' ');

  test('stand in the order that is asked, the largest first when none is', async () => {
    const { ask } = await world();
    const groups = async (args: string): Promise<string> => {
      const { list, errors } = await ask(`aggregate { groups(${args}) { keys aggregate { count } } }`);
      expect(errors).toEqual([]);
      return texts(list.aggregate.groups);
    };
    expect(await groups('by: ["status.phase"]')).toBe('Running=3 Failed=1 Pending=1 =1');
    expect(await groups('by: ["status.phase"], orderBy: [{ by: KEY }]')).toBe('Running=3 Pending=1 Failed=1 =1');
    expect(await groups('by: ["status.phase"], orderBy: [{ direction: ASC }], first: 3')).toBe('Failed=1 Pending=1 =1');
    expect(await groups('by: ["status.phase"], orderBy: [{ by: SUM, path: "spec.replicas" }]')).toBe(
      'Running=3 Failed=1 Pending=1 =1',
    );
    expect(await groups('by: ["status.phase"], orderBy: [{ by: AVG, path: $path, direction: ASC }]')).toBe(
      'Failed=1 Running=3 Pending=1 =1',
    );
    expect(await groups('by: ["status.phase"], orderBy: [{ by: MAX, path: "spec.at", direction: ASC }]')).toBe(
      'Running=3 Failed=1 Pending=1 =1',
    );
    expect(await groups('by: ["spec.tags[]"]')).toBe('=3 y=2 Xylem=1 x=1');
    expect(
      await groups(
        'by: ["status.phase", "spec.tags[]"], orderBy: [{ by: KEY, path: "spec.tags[]", direction: ASC }, { by: COUNT }]',
      ),
    ).toBe('Running+Xylem=1 Running+x=1 Running+y=2 Failed+=1 Pending+=1 +=1');
  });

  test('come page by page; a cursor of others is refused', async () => {
    const { ask } = await world();
    const page = async (args: string, after: string | null) => {
      const given = after === null ? '' : `, after: "${after}"`;
      const { list, errors } = await ask(
        `aggregate { groups(${args}${given}) { keys cursor aggregate { count min(path: "metadata.name") } } }`,
      );
      if (errors[0] !== undefined) throw errors[0];
      return list.aggregate.groups as { keys: unknown[]; cursor: string; aggregate: { count: number; min: string } }[];
    };
    const found: string[] = [];
    let after: string | null = null;
    for (;;) {
      const groups = await page('by: ["status.phase"], first: 1', after);
      if (groups.length === 0) break;
      found.push(texts(groups) + groups[0]?.aggregate.min);
      after = groups.at(-1)?.cursor ?? null;
    }
    expect(found).toEqual(['Running=3a', 'Failed=1c', 'Pending=1f', '=1d']);
    for (const other of ['by: ["spec.tags[]"]', 'by: ["status.phase"], orderBy: [{ by: KEY }]']) {
      await expect(page(other, after)).rejects.toMatchObject({
        code: 'BAD_USER_INPUT',
        message: expect.stringContaining('of other groups'),
      });
    }
  });

  test('more of them than are computed are refused with the limit', async () => {
    const { query, sync, declare } = await world();
    await declare(gadget());
    await sync(
      gadgets,
      Array.from({ length: 10_001 }, (_, index) => made({ name: `g${index}`, namespace: null })),
    );
    const { errors } = await query(
      '{ exampleComGadgets { aggregate { groups(by: ["metadata.name"], first: 1) { cursor } } facets(paths: ["metadata.name"], first: 1) { more values { value } } } }',
    );
    expect(errors.map(({ originalError }) => originalError)).toMatchObject([
      {
        code: 'QUERY_TOO_COSTLY',
        message: expect.stringContaining('10000'),
        details: { limit: 'groups', allowed: 10_000, atLeast: 10_001 },
      },
    ]);
  });
});

describe('facets', () => {
  test('show the other choices of their own path, under the rest of the filter', async () => {
    const { query } = await world();
    const { data, errors } =
      await query(`{ exampleComWidgets(filter: { status: { phase: { in: ["Running"] } }, labelSelector: "app in (web)" }) {
      totalCount facets(paths: ["status.phase", "metadata.labels[\\"app\\"]", "spec.tags[]"], first: 2) { path more values { value count } } } }`);
    expect(errors).toEqual([]);
    expect(data.exampleComWidgets).toEqual({
      totalCount: 2,
      facets: [
        { path: 'status.phase', more: false, values: [{ value: 'Running', count: 2 }] },
        {
          path: 'metadata.labels["app"]',
          more: false,
          values: [
            { value: 'web', count: 2 },
            { value: null, count: 1 },
          ],
        },
        {
          path: 'spec.tags[]',
          more: false,
          values: [
            { value: 'y', count: 2 },
            { value: 'x', count: 1 },
          ],
        },
      ],
    });
  });

  test('complete what somebody types', async () => {
    const { ask } = await world();
    const { list } = await ask(
      'facets(paths: ["spec.tags[]", "spec.replicas"], contains: "X") { more values { value count } } few: facets(paths: ["status.phase"], first: 1) { more values { value } }',
    );
    expect(list.facets).toEqual([
      {
        more: false,
        values: [
          { value: 'Xylem', count: 1 },
          { value: 'x', count: 1 },
        ],
      },
      { more: false, values: [] },
    ]);
    expect(list.few).toEqual([{ more: true, values: [{ value: 'Running' }] }]);
  });

  test('of a path that is not there are refused', async () => {
    const { ask } = await world();
    const { errors } = await ask('facets(paths: ["status.phas"]) { path }');
    expect(errors).toMatchObject([
      { code: 'BAD_USER_INPUT', message: expect.stringContaining('did you mean "phase"?') },
    ]);
  });
});

describe('what is not affordable', () => {
  test('is null, with the rows that it would take; what columns say is answered', async () => {
    const { ask } = await world({ scanRows: 4 });
    const { list, errors, told } = await ask(
      'totalCount aggregate { count sum(path: "spec.replicas") { text } groups(by: ["spec.replicas"]) { cursor } } facets(paths: ["spec.tags[]"]) { more values { value } }',
    );
    expect(errors).toEqual([]);
    expect(list).toEqual({
      totalCount: 6,
      aggregate: { count: 6, sum: null, groups: null },
      facets: [{ more: true, values: null }],
    });
    expect(told).toEqual(
      expect.arrayContaining([
        { path: ['exampleComWidgets', 'aggregate', 'sum'], rows: 6, allowed: expect.any(Number) },
        { path: ['exampleComWidgets', 'aggregate', 'groups'], rows: 6, allowed: expect.any(Number) },
        { path: ['exampleComWidgets', 'facets', 0, 'values'], rows: 6, allowed: expect.any(Number) },
      ]),
    );
  });

  test('a count with a limit is looked for among some of the rows', async () => {
    const { query } = await world({ scanRows: 4 });
    const count = async (filter: string, limit: string) => {
      const { data, operation } = await query(`{ exampleComWidgets(filter: ${filter}) { totalCount${limit} } }`);
      return { count: data.exampleComWidgets.totalCount, told: operation.extensions()['notAfforded'] };
    };
    const any = '{ metadata: { resourceVersion: { exists: true } } }';
    expect(await count(any, '')).toEqual({
      count: null,
      told: [{ path: ['exampleComWidgets', 'totalCount'], rows: 6, allowed: 4 }],
    });
    expect(await count(any, '(limit: 2)')).toEqual({ count: 2, told: undefined });
    expect(await count(any, '(limit: 3)')).toMatchObject({ count: null, told: [{ rows: 6 }] });
    expect(
      (await count('{ namespaces: ["nowhere"], metadata: { resourceVersion: { exists: true } } }', '')).count,
    ).toBe(0);
  });
});
