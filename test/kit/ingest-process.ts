/**
 * A process that ingests until it is killed; for tests of crashes.
 *
 *   ingest-process.ts FILE KUBECONFIG KIND -> message: opened
 */
import { startIngest } from '../../src/ingest/thread/start-ingest.ts';

const [file = '', kubeconfig = '', kind = ''] = process.argv.slice(2);

const ingest = await startIngest({
  file,
  clusters: [{ name: 'east', kubeconfig }],
  include: [kind],
  logLevel: 'error',
  // Many small pages, so that a kill can hit more different moments.
  reflector: { pageSize: 100, backoff: { firstMs: 20, capMs: 200, resetMs: 10_000 } },
});
process.send?.('opened');
await ingest.failed;
