/** The gateway of bench/join.ts: an engine and the real server over a store file. argv: store file -> message: { url } -> disconnect */
import { serveStore } from './support/serve-store.ts';

const [file = ''] = process.argv.slice(2);
const served = await serveStore(file, { prepared: true, diagnosis: { explain: true } });
process.send?.({ url: served.url });
process.once('disconnect', () => void served.close().then(() => process.exit(0)));
