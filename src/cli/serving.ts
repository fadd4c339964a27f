/** What a gateway serves with, in one module: src/cli/gateway.ts loads it beside its other threads. */
export { createEngine } from '../graphql/engine.ts';
export { startServer } from '../server/http-server.ts';
export { createMetrics } from '../server/metrics.ts';
export { readPlaygroundTabs } from '../server/playground-tabs.ts';
export { readinessOf } from '../server/readiness.ts';
