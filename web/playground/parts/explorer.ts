/** The panel of the Explorer. It is the part explorer.js of the page. */
import { explorerPlugin } from '@graphiql/plugin-explorer';

export const { content: Explorer } = explorerPlugin({ showAttribution: false });
