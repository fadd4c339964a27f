/** Ends a test run with the names of skipped suites and one plain line: `N passed, N failed, N skipped`. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';

export class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    const skipped = new Map<string, number>();
    for (const module of modules) {
      // The tests of a file or group with a failed hook never run; the hook counts as a failure.
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'pending') continue;
        counts[state] += 1;
        if (state !== 'skipped') continue;
        const { note } = test.result() as { readonly note?: string };
        const name = `${module.relativeModuleId}: ${outermostSkipped(test)}${note === undefined ? '' : ` (${note})`}`;
        skipped.set(name, (skipped.get(name) ?? 0) + 1);
      }
    }
    const lines = [...skipped].map(([name, count]) => `skipped ${count} of ${name}\n`);
    process.stdout.write(
      `\n${lines.join('')}${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`,
    );
  }
}

/** The name of the outermost suite that is skipped as a whole, or of the test itself. Names say why they are skipped. */
function outermostSkipped(test: TestCase): string {
  let { name } = test;
  for (let { parent } = test; parent.type === 'suite'; parent = parent.parent)
    if (parent.state() === 'skipped') name = parent.name;
  return name;
}

// biome-ignore lint/style/noDefaultExport: vitest loads a reporter by its default export.
export default CountReporter;
