/** The gateway of bench/abstract.ts. argv: store file -> message: { url } -> disconnect */
import { serveStore } from './support/serve-store.ts';

const [file = ''] = process.argv.slice(2);
const served = await serveStore(file, { prepared: true });
process.once('disconnect', () => void served.close());
process.send?.({ url: served.url });
