/**
 * One trace from a client through the gateway to a real API server, which exports spans of its own.
 *
 * The API server continues the trace of a caller in system:masters or system:monitoring. For other callers it begins a trace of its own,
 * with a link to theirs.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type GatewayProcess, startGatewayProcess } from '../kit/gateway-process.ts';
import { type OtlpGrpcReceiver, startOtlpGrpcReceiver } from '../kit/otlp-grpc-receiver.ts';
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from '../kit/otlp-receiver.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { encoded, secretsNamespace, secretText, secretWorld } from '../kit/secret-rights.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const clientSpan = '00f067aa0ba902b7';

describeOn([mainServer], 'traces to a real cluster', { timeout: 60_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: GatewayProcess;
  let ours: OtlpReceiver;
  let theirs: OtlpGrpcReceiver;

  beforeAll(async () => {
    [ours, theirs] = await Promise.all([startOtlpReceiver(), startOtlpGrpcReceiver()]);
    const tracing = {
      apiVersion: 'apiserver.config.k8s.io/v1beta1',
      kind: 'TracingConfiguration',
      endpoint: theirs.address,
      samplingRatePerMillion: 1_000_000,
    };
    plane = await startControlPlane({
      server,
      users: [{ token: 'token-of-carol', user: 'carol', groups: [] }],
      apiServer: (dir) => {
        const tracingFile = join(dir, 'tracing.json');
        writeFileSync(tracingFile, JSON.stringify(tracing));
        return { tracingFile };
      },
    });
    for (const { path, body } of secretWorld) {
      await plane.kubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(body));
    }
    gateway = await startGatewayProcess(
      [
        ...['--kubeconfig', plane.kubeconfigPath, '--auth', 'token', '--secret-data', 'live'],
        ...['--kinds', 'secrets,namespaces'],
      ],
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: ours.url,
        OTEL_BSP_SCHEDULE_DELAY: '100',
        OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      },
    );
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
    await Promise.all([ours?.close(), theirs?.close()]);
  }, 60_000);

  test('the spans of the API server continue those of the gateway, or are linked to them', async () => {
    await eventually(async () => {
      const headers = {
        'content-type': 'application/json',
        authorization: 'Bearer token-of-carol',
        traceparent: `00-${traceId}-${clientSpan}-01`,
      };
      const body = JSON.stringify({ query: `{ secret(namespace: "${secretsNamespace}", name: "own") { data } }` });
      const response = await fetch(gateway.url, { method: 'POST', headers, body });
      const secret = { data: { password: encoded(secretText('own')) } };
      expect(await response.json()).toMatchObject({ data: { secret } });
    });
    const gatewaySpan = (name: string): ReceivedSpan | undefined => ours.spans.find((span) => span.name === name);
    await eventually(() => {
      const read = gatewaySpan('GET /api/v1/namespaces/{namespace}/secrets/{name}');
      expect(read).toMatchObject({ traceId, kind: 3 });
      expect(ours.pathOf(must(read, 'the read of the Secret'))[0]).toBe('query');
      expect(gatewaySpan('query')).toMatchObject({ traceId, parentSpanId: clientSpan });
    });
    await eventually(() => {
      const review = 'POST /apis/authentication.k8s.io/v1/tokenreviews';
      const parentSpanId = gatewaySpan(review)?.spanId;
      expect(theirs.spans).toContainEqual({ name: review, traceId, parentSpanId, links: [] });
      const linked = theirs.spans.filter(({ links }) => links.includes(traceId));
      expect(linked.map(({ name }) => name)).toContain('GET /api/v1/namespaces/{:namespace}/secrets/{:name}');
    });
  });
});
