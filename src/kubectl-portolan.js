#!/usr/bin/env -S node --v8-pool-size=1 --max-semi-space-size=16
/** The kubectl plugin: `kubectl portolan status` runs `portolan kubectl status`. src/cli/remote/kubectl.ts describes it. */
process.argv.splice(2, 0, 'kubectl');
await import('./portolan.js');
