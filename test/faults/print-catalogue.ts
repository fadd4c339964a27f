/** docs/faults.md, printed from the catalogue. */
import { allFaults } from '../model/model-faults.ts';
import { catalogue } from './catalogue.ts';
import type { Fault, TestedBy } from './fault.ts';

const head = `# Faults

This page lists the faults that can occur between an API server and the store. For each fault it states what Portolan guarantees, and
which tests check it.
\`npx vitest run test/faults/catalogue.test.ts -u\` prints it from \`test/faults/catalogue.ts\`.
A test checks that every test named here exists. A table is here the stored rows of one collection ([glossary](glossary.md)).

## How faults are tested

Three groups of tests cover the faults.

**\`test/faults\`** plays one fault at a time. Ingest runs with its supervisor and a real store file against the simulated cluster,
over HTTP. After each fault, a test waits until the tables equal the server's objects by namespace, name, uid and resourceVersion.
It then checks two more facts:

- Applying the entries of the change log since the first sync gives the current tables.
- No stored resourceVersion went back.

**\`test/model/model.test.ts\`** plays random operations and faults against the same cluster, by seed.
\`PORTOLAN_SEEDS=500 npx vitest run test/model/model.test.ts\` plays 500 seeds. \`PORTOLAN_SEED=17\` plays one seed again.

**\`test/model\`** runs all of ingest and a real store file against a model of an API server. It uses no sockets and a simulated clock, so
a seed gives the same run each time. After each commit it checks:

- Each table equals the collection at the table's resourceVersion, body by body. This also holds for a reader of an earlier snapshot.
- The change log has each event of the server once and in order.
- Requests stay within their budget.

After the faults end, all tables must equal the server's collections within bounded time and without another list. No connection, timer
or row may be left. Some runs include audits. An audit must find an event that no watch received. It must find nothing in correct tables.

In the list below, \`test/model\` means that the model plays the fault, alone and together with other faults.
\`PORTOLAN_MODEL_SEEDS=10000 npx vitest run test/model/seeds\` plays 10,000 seeds instead of 1000. \`PORTOLAN_SEED=17\` plays one seed again.

## Faults in your own tests

\`startFaultyCluster\` of \`test/kit/faults/faulty-cluster.ts\` starts the simulated cluster with a switch for each fault of a server:

\`\`\`ts
const sim = await startFaultyCluster();
sim.faults.set({ F12: { resource: 'pods', form: 'cut', times: 2 } });
sim.faults.struck('F12'); // how often it has occurred
sim.faults.clear();
\`\`\`
`;

/** Longest line of the page, in characters. */
const width = 130;

/** A fault as a section: its title, its guarantee, a note if it has one, and its tests. */
function section({ number, title, holds, tests, note }: Fault): string {
  const model = allFaults.some((fault) => fault === `F${number}`) ? ['`test/model`'] : [];
  const paragraphs = [holds, ...(note === undefined ? [] : [note])].map((text) => wrapped(text));
  const items = [...tests.map(tested), ...model].map((text) => wrapped(`- ${text}`, '  '));
  const list = items.length === 0 ? [] : [items.join('\n')];
  return [`### F${number}: ${title}`, ...paragraphs, ...list].join('\n\n');
}

/** A test without its fault numbers; `…` where its name has a placeholder. */
function tested({ file, name }: TestedBy): string {
  return `\`${file}\`: ${name.replace(/^(?:[FR]\d+[^:]*|%s): /, '').replaceAll(/%[si]|\$\{\w+\}/g, '…')}`;
}

/** The text in lines of at most `width` characters; each line but the first begins with the indent. */
function wrapped(text: string, indent = ''): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else line += line === '' ? word : ` ${word}`;
  }
  return [...lines, line].join('\n');
}

/** The whole page. */
export function printCatalogue(): string {
  return [`${head}\n## The catalogue`, ...catalogue.map(section)].join('\n\n').concat('\n');
}
