/** The server of an engine fixture, over real HTTP; it is closed at the end of the test. Without `pages`, the executor answers every query. */
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../src/base/log.ts';
import { type RunningServer, type ServerOptions, startServer } from '../../src/server/http-server.ts';
import type { EngineFixture } from './engine-fixture.ts';

export async function serveFixture(
  { engine, pages }: Pick<EngineFixture, 'engine'> & Partial<Pick<EngineFixture, 'pages'>>,
  more: Partial<ServerOptions> = {},
): Promise<RunningServer> {
  const server = await startServer({
    host: '127.0.0.1',
    port: 0,
    source: engine.source,
    ...(pages === undefined ? {} : { pages }),
    readiness: () => ({ ready: true }),
    tabs: [],
    log: silentLogger,
    ...more,
  });
  onTestFinished(() => server.close());
  return server;
}
