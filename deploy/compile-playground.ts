/**
 * Bundles the script of the playground's page as a TypeScript module that holds its text.
 *
 *   playground/start.ts -> src/server/generated/playground-script.ts
 *
 * The module is committed, so Node, the tests and the bundle need no bundler. test/playground-script.test.ts compares it with a fresh
 * bundle.
 */
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Below the project's folder. */
export const playgroundModule = 'src/server/generated/playground-script.ts';

/** The text of the module. */
export async function compilePlayground(): Promise<string> {
  const bundle = await rolldown({
    cwd: fileURLToPath(new URL('..', import.meta.url)),
    input: 'playground/start.ts',
    platform: 'browser',
    tsconfig: false,
    // The text names the modules below the project's folder, also where node_modules is a link.
    resolve: { symlinks: false },
  });
  try {
    const { output } = await bundle.generate({ format: 'iife', name: 'PortolanPlayground', comments: false });
    const lines = output[0].code.trimEnd().split('\n');
    const texts = lines.map((line) => `  ${JSON.stringify(line)},\n`);
    return `/** playground/start.ts, bundled by \`npm run playground\`. */\nexport const script: string = [\n${texts.join('')}].join('\\n');\n`;
  } finally {
    await bundle.close();
  }
}
