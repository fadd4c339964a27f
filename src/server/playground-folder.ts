/** The folder that `npm run playground` writes, from here and from the bundle of `npm run build`. */
import { fileURLToPath } from 'node:url';

export const playgroundFolder = fileURLToPath(new URL('../../web/playground/dist/', import.meta.url));
