/**
 * The gateway of bench/list.ts without prepared answers, as with --prepared-answers false: graphql-js executes every query. It reads the
 * store that list.child.ts fills.
 *
 *   argv: store file -> message: { url } -> disconnect
 */
import { serveStore } from './support/serve-store.ts';

const [file = ''] = process.argv.slice(2);
const served = await serveStore(file, { prepared: false });
process.once('disconnect', () => void served.close());
process.send?.({ url: served.url });
