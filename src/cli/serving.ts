/** What a gateway serves with, in one module: src/cli/gateway.ts loads it beside its other threads. */
export { createEngine } from '../graphql/engine.ts';
export { createMetrics } from '../server/health/metrics.ts';
export { readinessOf } from '../server/health/readiness.ts';
export { startServer } from '../server/http-server.ts';
export { readPlaygroundTabs } from '../server/playground-tabs.ts';
