/**
 * A process that ingests until it is killed; for tests of crashes.
 *
 *   ingest-process.ts FILE KUBECONFIG KIND -> message: opened
 */
import { startIngest } from '../../src/ingest/thread/start-ingest.ts';

const [file = '', kubeconfig = '', kind = ''] = process.argv.slice(2);

/** Relations of ConfigMaps: by a name in the data, and by the labels as a selector. */
const relations = `relations:
  - { from: ConfigMap, name: next, to: ConfigMap, reverse: previous, at: ["data['next']"] }
  - { from: ConfigMap, name: alike, to: ConfigMap, selector: metadata.labels, form: map, empty: none }
`;

const ingest = await startIngest({
  file,
  clusters: [{ name: 'east', kubeconfig }],
  include: [kind],
  relations: { documents: [{ file: 'test', text: relations, origin: 'CONFIGURED' }], annotations: false, infer: false },
  logLevel: 'error',
  // Many small pages, so that a kill can hit more different moments.
  reflector: { pageSize: 100, backoff: { firstMs: 20, capMs: 200, resetMs: 10_000 } },
});
process.send?.('opened');
await ingest.failed;
