import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { describedResource, pod, storeFile } from '../../../test/kit/store-file.ts';
import { systemClock } from '../../base/clock.ts';
import type { FieldTree } from '../../catalog/tree/field-tree.ts';
import { readLayouts } from '../read/layout.ts';
import { openReader } from '../read/reader.ts';
import { Database } from '../sqlite/database.ts';
import type { IncomingObject } from '../types/incoming-object.ts';
import type { PathUse } from '../types/kind-layout.ts';
import { openWriter, type StoreWriter } from '../write/writer.ts';
import type { WriterOptions } from '../write/writer-options.ts';

const node: PathUse = { key: 'pods', path: 'spec.nodeName', type: 'String' };
const use = (path: string): PathUse => ({ key: 'pods', path, type: 'String' });

const leaf = (type: 'String' | 'JSON') => ({ kind: 'leaf', type }) as const;
const tree: FieldTree = {
  root: 'Pod',
  shapes: {
    Pod: {
      key: 'Pod',
      path: [],
      fields: [
        { name: 'spec', type: { kind: 'object', shape: 'Spec' } },
        { name: 'status', type: { kind: 'object', shape: 'Status' } },
      ],
    },
    Spec: {
      key: 'Spec',
      path: ['spec'],
      fields: [
        { name: 'nodeName', type: leaf('String') },
        { name: 'volumes', type: { kind: 'list', of: leaf('String') } },
        { name: 'free', type: leaf('JSON') },
      ],
    },
    Status: { key: 'Status', path: ['status'], fields: [{ name: 'phase', type: leaf('String') }] },
  },
};

function objects(count: number, from = 0): IncomingObject[] {
  return Array.from({ length: count }, (_, index) =>
    pod({
      name: `pod-${from + index}`,
      rv: from + index + 1,
      rest: { spec: { nodeName: `node-${index % 7}` }, status: { phase: index % 3 === 0 ? 'Failed' : 'Running' } },
    }),
  );
}

async function filled(count: number, options: WriterOptions = {}) {
  const file = storeFile();
  const all: WriterOptions = { checkpoints: 'inline', ...options };
  let writer = openWriter(file, all);
  onTestFinished(() => writer.close());
  const reader = openReader(file, { readers: 1 });
  onTestFinished(() => reader.close());
  const described = { ...describedResource(), tree };
  const handle = writer.declare(described);
  const replace = writer.replace(handle);
  replace.put(objects(count));
  await replace.commit(String(count));
  return {
    file,
    handle,
    described,
    reader,
    writer: (): StoreWriter => writer,
    reopen(more: WriterOptions = {}): StoreWriter {
      writer.close();
      writer = openWriter(file, { ...all, ...more });
      return writer;
    },
    slots: async () => (await reader.lease(readLayouts)).get('pods')?.slots ?? [],
  };
}

/** The values of each slot in the kind's table, by path and by the object's name. */
function columns(file: string): Map<string, Map<string, unknown>> {
  const database = new Database(file, { readonly: true });
  try {
    const found = new Map<string, Map<string, unknown>>();
    for (const [table, column, path] of database
      .statement('SELECT k.promoted_table, s.column_name, s.path FROM slot s JOIN kind k ON k.id = s.kind')
      .all()) {
      const rows = database.statement(`SELECT name, ${String(column)} FROM ${String(table)}`).all();
      found.set(String(path), new Map(rows.map(([name, value]) => [String(name), value])));
    }
    return found;
  } finally {
    database.close();
  }
}

function indexesOf(file: string): string[] {
  const database = new Database(file, { readonly: true });
  try {
    return database
      .statement(`SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'p1' ORDER BY name`)
      .all()
      .map(([name]) => String(name));
  } finally {
    database.close();
  }
}

function keepHouse(writer: StoreWriter): number {
  let steps = 0;
  while (writer.maintain()) steps += 1;
  return steps;
}

describe('a path that queries need', () => {
  test('has a column at once and is ready when housekeeping has filled it, without making an index', async () => {
    const { file, writer, slots } = await filled(1200);
    const before = indexesOf(file);
    expect(writer().promote(node)).toBe('promoted');
    expect(await slots()).toContainEqual(
      expect.objectContaining({ path: 'spec.nodeName', ready: false, reason: 'QUERIES' }),
    );
    expect(keepHouse(writer())).toBeGreaterThan(1);
    expect(await slots()).toContainEqual(expect.objectContaining({ path: 'spec.nodeName', ready: true }));
    expect(columns(file).get('spec.nodeName')?.get('pod-8')).toBe('node-1');
    expect(indexesOf(file)).toEqual(before);
    expect(writer().promote(node)).toBe('known');
  });

  test('of a kind with few objects has none, nor one of a kind that nobody knows', async () => {
    const { writer, slots } = await filled(20);
    expect(writer().promote(node)).toBe('few rows');
    expect(writer().promote({ ...node, key: 'gone' })).toBe('few rows');
    expect(await slots()).toHaveLength(1);
  });

  test('keeps its column over a restart, and goes on being filled', async () => {
    const { file, writer, reopen, described, slots } = await filled(1200);
    writer().promote(node);
    writer().maintain();
    const again = reopen();
    again.declare(described);
    expect(await slots()).toContainEqual(
      expect.objectContaining({ path: 'spec.nodeName', ready: false, reason: 'QUERIES' }),
    );
    keepHouse(again);
    expect(await slots()).toContainEqual(expect.objectContaining({ path: 'spec.nodeName', ready: true }));
    expect([...(columns(file).get('spec.nodeName')?.values() ?? [])].filter((value) => value === null)).toEqual([]);
  });

  test('gives its column up for another when it was used longest ago, and only when that is long ago', async () => {
    let now = 1_000_000;
    const clock = { ...systemClock, now: () => now };
    const { writer, slots } = await filled(25_000, { clock });
    const queried = async (): Promise<string[]> =>
      (await slots()).filter(({ reason }) => reason === 'QUERIES').map(({ path }) => path);
    for (const path of ['spec.a', 'spec.b', 'spec.c', 'spec.d']) {
      expect(writer().promote(use(path))).toBe('promoted');
      now += 1000;
    }
    expect(writer().promote(use('spec.e'))).toBe('no room');
    now += 3_600_000;
    expect(writer().promote(use('spec.a'))).toBe('known');
    expect(writer().promote(use('spec.e'))).toBe('promoted');
    expect((await queried()).toSorted()).toEqual(['spec.a', 'spec.c', 'spec.d', 'spec.e']);
    expect((await slots()).map(({ path }) => path)).toContain('status.phase');
  });

  test('gives its column up for one that is declared', async () => {
    const { writer, described, slots } = await filled(1200);
    for (let at = 0; at < 15; at += 1) expect(writer().promote(use(`spec.q${at}`))).toBe('promoted');
    expect(writer().promote(use('spec.more'))).toBe('no room');
    const promoted = [...described.promoted, { path: 'spec.nodeName', type: 'String', selectable: true }] as const;
    writer().declare({ ...described, promoted });
    const found = await slots();
    expect(found).toHaveLength(16);
    expect(found).toContainEqual(
      expect.objectContaining({ path: 'spec.nodeName', reason: 'SELECTABLE', ready: false }),
    );
  });

  test('is filled across the objects of other kinds', async () => {
    const { file, writer, handle, slots } = await filled(1000);
    const others = writer().declare(describedResource({ plural: 'nodes', kind: 'Node' }));
    const replace = writer().replace(others);
    replace.put(objects(11_000).map(({ text }) => ({ text: text.replace('"kind":"Pod"', '"kind":"Node"') })));
    await replace.commit('1');
    const late = objects(50, 2000);
    writer().apply(
      handle,
      late.map((object) => ({ type: 'ADDED', object })),
      '3000',
    );
    writer().promote(node);
    keepHouse(writer());
    expect(await slots()).toContainEqual(expect.objectContaining({ path: 'spec.nodeName', ready: true }));
    const found = columns(file).get('spec.nodeName');
    expect(found?.size).toBe(1050);
    expect([...(found?.values() ?? [])].filter((value) => value === null)).toEqual([]);
  });

  test('that is declared later says so, and stays filled', async () => {
    const { writer, described, slots } = await filled(1200);
    writer().promote(node);
    keepHouse(writer());
    writer().declare({ ...described, promoted: [...described.promoted, { path: node.path, type: node.type }] });
    expect(await slots()).toContainEqual(
      expect.objectContaining({ path: 'spec.nodeName', reason: 'PRINTER_COLUMN', ready: true }),
    );
  });

  test('goes with its kind', async () => {
    const { writer, handle, slots } = await filled(1200);
    writer().promote(node);
    await writer().drop(handle);
    expect(await slots()).toEqual([]);
  });

  test('has the values of all objects, whatever is written while it is filled', { timeout: 120_000 }, async () => {
    const change = fc.record({
      at: fc.nat({ max: 1099 }),
      type: fc.constantFrom('MODIFIED' as const, 'DELETED' as const, 'ADDED' as const),
      node: fc.option(fc.constantFrom('a', 'b', 'Ü', ''), { nil: null }),
      steps: fc.nat({ max: 2 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 40 }), fc.boolean(), async (changes, stale) => {
        const { file, writer, handle } = await filled(1100);
        const expected = new Map<string, unknown>(
          objects(1100).map((_, index) => [`pod-${index}`, `node-${index % 7}`]),
        );
        if (stale) {
          // A column with values of another path.
          writer().promote(use('status.phase2'));
          keepHouse(writer());
        }
        writer().promote(node);
        let rv = 5000;
        for (const { at, type, node, steps } of changes) {
          rv += 1;
          const name = type === 'ADDED' ? `new-${rv}` : `pod-${at}`;
          if (type !== 'ADDED' && !expected.has(name)) continue;
          const spec = node === null ? {} : { nodeName: node };
          writer().apply(handle, [{ type, object: pod({ name, rv, rest: { spec } }) }], String(rv));
          if (type === 'DELETED') expected.delete(name);
          else expected.set(name, node);
          for (let step = 0; step < steps; step += 1) writer().maintain();
        }
        keepHouse(writer());
        expect(columns(file).get('spec.nodeName')).toEqual(expected);
        writer().close();
      }),
      { numRuns: 12 },
    );
  });
});

describe('a configured path', () => {
  test('has a column from the start, and none when the configuration does not name it any more', async () => {
    const promote = ['pods=spec.nodeName', 'pods=spec.volumes[]', 'pods=spec.none', 'pods=spec.free', 'nodes=spec.x'];
    const { described, reopen, slots } = await filled(10, { promote });
    const ready = { ready: true, type: 'String' };
    const own = expect.objectContaining({ ...ready, path: 'status.phase', reason: 'PRINTER_COLUMN' });
    expect(await slots()).toEqual([
      expect.objectContaining({ ...ready, path: 'spec.nodeName', reason: 'CONFIGURED' }),
      own,
    ]);
    reopen({ promote: [] }).declare(described);
    expect(await slots()).toEqual([own]);
  });

  test('that is added later is filled by housekeeping', async () => {
    const { described, file, reopen, slots } = await filled(700);
    const writer = reopen({ promote: ['pods=spec.nodeName'] });
    writer.declare(described);
    expect(await slots()).toContainEqual(
      expect.objectContaining({ path: 'spec.nodeName', ready: false, reason: 'CONFIGURED' }),
    );
    keepHouse(writer);
    expect(columns(file).get('spec.nodeName')?.get('pod-3')).toBe('node-3');
  });
});

test('columns of the health that are filled later have the stored health', async () => {
  const { file, slots, writer } = await filled(1200);
  for (const path of ['health.status', 'health.reason']) expect(writer().promote(use(path))).toBe('promoted');
  while (writer().maintain());
  const columns = (await slots()).filter(({ ready }) => ready);
  const columnOf = (path: string) => columns.find((slot) => slot.path === path)?.column;
  const database = new Database(file, { readonly: true });
  onTestFinished(() => database.close());
  const rows = database
    .statement(
      `SELECT DISTINCT o.health, o.health_reason, p.${columnOf('health.status')}, p.${columnOf('health.reason')}
       FROM object o JOIN p1 p ON p.id = o.id ORDER BY 1`,
    )
    .all();
  expect(rows).toEqual([
    ['Current', null, 'Current', null],
    ['InProgress', 'PodRunningNotReady', 'InProgress', 'PodRunningNotReady'],
  ]);
});
