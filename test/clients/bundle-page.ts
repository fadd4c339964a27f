/** Bundles the page's script as a browser's build would, with the modules that `portolan client-config` prints in it. */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { apolloConfig, urqlConfig } from '../../src/graphql/client/client-config.ts';

const printed: Readonly<Record<string, () => string>> = { 'printed/apollo': apolloConfig, 'printed/urql': urqlConfig };

/** The script as text. The clients are built for development, so that they warn. */
export async function bundlePage(): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('./page.ts', import.meta.url)),
    platform: 'browser',
    resolve: { conditionNames: ['development', 'browser', 'import', 'default'] },
    transform: { define: { 'process.env.NODE_ENV': '"development"' } },
    plugins: [
      {
        name: 'printed-modules',
        resolveId: (id) => (id in printed ? `\0${id}` : null),
        load: (id) => printed[id.slice(1)]?.() ?? null,
      },
    ],
  });
  try {
    const { output } = await bundle.generate({ format: 'iife' });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}
