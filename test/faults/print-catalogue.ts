/** docs/faults.md, printed from the catalogue. */
import { allFaults } from '../model/model-faults.ts';
import { catalogue } from './catalogue.ts';
import type { Fault, TestedBy } from './fault.ts';

const head = `# Faults

What may go wrong between an API server and the store, what must hold then, and the tests that hold it. This page is printed from
\`test/faults/catalogue.ts\` by \`npx vitest run test/faults/catalogue.test.ts -u\`; a test checks that every test named here exists.

Tests in \`test/faults\` run ingest with its whole supervision and a real store file against the simulated cluster over HTTP. After each
fault they wait until the tables equal the server's set by namespace, name, uid and resourceVersion, and check that the change log after
the first sync leads to the tables entry by entry, and that no stored resourceVersion went back. \`test/model.test.ts\` plays random
operations and faults against the same by seed: \`PORTOLAN_SEEDS=500 npx vitest run test/model.test.ts\` plays many,
\`PORTOLAN_SEED=17\` one again.

\`test/model\` plays seeds: all of ingest and a real store file against a server that is a model, without sockets and in a time of
its own, so that a seed is the same run each time. Whenever something is committed, each table must be what the collection was at the
table's resourceVersion, body by body, also for who reads a snapshot taken earlier; the log must tell each event of the server once and
in order; requests must stay within their budget; and when the faults are over, all must be in step within bounded time, without another
list, without a connection, a timer or a row left over. Audits go on beside it in some of the runs: they must find an event that no watch
was ever told of, and must find nothing where all is right. Where the table below says "model", the fault is among its faults, and is also
played alone. \`PORTOLAN_MODEL_SEEDS=500 npx vitest run test/model/seeds\` plays fewer, \`PORTOLAN_SEED=17\` one again.

The faults of the server are switches of the simulated cluster, for tests of your own:

\`\`\`ts
const sim = await startSimCluster();
sim.faults.set({ F12: { resource: 'pods', form: 'cut', times: 2 } });
sim.faults.struck('F12'); // how often it has been met
sim.faults.clear();
\`\`\`
`;

function row({ number, title, holds, tests, note }: Fault): string {
  const model = allFaults.some((fault) => fault === `F${number}`) ? ['model'] : [];
  const where = [...(note === undefined ? [] : [note]), ...tests.map(tested), ...model];
  return `| F${number} | ${title} | ${holds} | ${where.join('<br>')} |`;
}

function tested({ file, name }: TestedBy): string {
  return `\`${file}\`: ${name.replace(/^(?:[FR]\d+[^:]*|%s): /, '').replaceAll(/%[si]|\$\{\w+\}/g, '…')}`;
}

/** The whole page. */
export function printCatalogue(): string {
  return [
    head,
    '| # | Fault | What must hold | Where it is tested |',
    '|---|---|---|---|',
    ...catalogue.map(row),
    '',
  ].join('\n');
}
