/**
 * A process that writes to a store until it is killed; for tests of crashes and locks.
 *
 *   store-writer.ts FILE hold | events | relists
 *
 * Object `n % 50` is stored with resourceVersion n, in order, so that a version determines the whole table.
 */
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { openWriter } from '../../src/store/write/writer.ts';

const [file = '', work = 'hold'] = process.argv.slice(2);

const described: DescribedResource = {
  cluster: 'east',
  resource: {
    group: '',
    version: 'v1',
    plural: 'pods',
    singular: 'pod',
    kind: 'Pod',
    namespaced: true,
    verbs: ['list', 'watch'],
    shortNames: [],
    categories: [],
  },
  tree: { root: 'root', shapes: {} },
  shapeHash: 'shape',
  printerColumns: [],
  promoted: [{ path: 'status.phase', type: 'String' }],
  redacted: [],
  diagnostics: [],
};

function textOf(rv: number): string {
  const name = `n${rv % 50}`;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: String(rv), labels: { name } },
    status: { phase: `phase-${rv}`, message: 'x'.repeat(2000) },
  });
}

/** The newest 50 objects at a version. */
function listAt(rv: number): { text: string }[] {
  return Array.from({ length: 50 }, (_, index) => ({ text: textOf(rv - 49 + index) }));
}

// Transactions of a few events, and replaces that fill a new rowset, so that a kill can hit more different moments.
const writer = openWriter(file, { bounds: { maxMs: 10, maxBytes: 5000 }, maxDifferences: 20 });
const handle = writer.declare(described);
let version = Number(writer.state(handle).lastResourceVersion ?? 100);

const report = (): void => {
  process.send?.({ committed: version });
};

if (work === 'hold') {
  report();
  setInterval(() => {}, 1000);
} else {
  if (!writer.state(handle).synced) {
    const replace = writer.replace(handle);
    replace.put(listAt(version));
    await replace.commit(String(version));
  }
  report();
  for (;;) {
    const step = (version % 37) + 1;
    if (work === 'events') {
      const events = Array.from({ length: step }, (_, index) => ({
        type: 'MODIFIED' as const,
        object: { text: textOf(version + 1 + index) },
      }));
      writer.apply(handle, events, String(version + step));
    } else {
      const replace = writer.replace(handle);
      replace.put(listAt(version + step));
      await replace.commit(String(version + step));
    }
    version += step;
    writer.maintain();
    report();
    await new Promise((resolve) => setImmediate(resolve));
  }
}
