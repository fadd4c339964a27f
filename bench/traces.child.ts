/**
 * A gateway of bench/traces.ts over a filled store.
 *
 *   argv: store file, share of the traces that are exported, URL of the collector -> message: { url } -> disconnect
 *
 * Without a share, nothing of OpenTelemetry is loaded.
 */
import { silentLogger } from '../src/base/log.ts';
import { serveStore } from './support/serve-store.ts';

const [file = '', ratio, collector = ''] = process.argv.slice(2);

async function openTracing() {
  if (ratio === undefined) return null;
  // The exporter reads the variables of the process.
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector;
  process.env['OTEL_TRACES_SAMPLER'] = 'parentbased_traceidratio';
  process.env['OTEL_TRACES_SAMPLER_ARG'] = ratio;
  const telemetry = await import('../src/telemetry/open-tracing.ts');
  return telemetry.openTracing(process.env, 'bench', silentLogger);
}

const tracing = await openTracing();
const served = await serveStore(file, { prepared: true, ...(tracing === null ? {} : { tracer: tracing.tracer }) });
process.once('disconnect', async () => {
  await served.close();
  await tracing?.close();
  process.exit();
});
process.send?.({ url: served.url });
