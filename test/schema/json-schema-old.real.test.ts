/** JSON Schemas of a server without OpenAPI v3: built-in kinds from OpenAPI v2, custom ones from their definitions. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { describeOn, oldServer } from '../kit/real-servers.ts';

interface Schema {
  readonly required?: readonly string[];
  readonly additionalProperties?: unknown;
  readonly properties?: Readonly<Record<string, Schema & { readonly description?: string; readonly const?: string }>>;
}

const group = 'schemas.portolan.example';
const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `gauges.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind: 'Gauge', plural: 'gauges', singular: 'gauge', listKind: 'GaugeList' },
    versions: [
      {
        ...{ name: 'v1', served: true, storage: true },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: { spec: { type: 'object', required: ['unit'], properties: { unit: { type: 'string' } } } },
          },
        },
      },
    ],
  },
};

describeOn([oldServer], 'JSON Schemas before OpenAPI v3', { timeout: 60_000, needs: ['kubectl'] }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    const users = [{ token: 'token-of-alice', user: 'alice', groups: [] }];
    plane = await startControlPlane({ server, users });
    await plane.kubectl(['apply', '-f', '-'], JSON.stringify(definition));
    const role = 'create clusterrole reader --verb=get,list,watch --resource=deployments.apps,gauges';
    await plane.kubectl(['wait', '--for=condition=Established', `crd/gauges.${group}`]);
    await plane.kubectl(role.replace('gauges', `gauges.${group}`).split(' '));
    await plane.kubectl('create clusterrolebinding reader --clusterrole=reader --user=alice'.split(' '));
    const kinds = ['deployments.apps', `gauges.${group}`];
    gateway = await runGateway({ name: 'old', kubeconfig: plane.kubeconfigPath }, { kinds, auth: 'token' });
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  }, 60_000);

  async function schemaOf(kind: string, token: string): Promise<Schema> {
    const query = `{ resources(kinds: ["${kind}"]) { jsonSchema } }`;
    return eventually(async () => {
      const headers = { authorization: `Bearer ${token}` };
      const { data, errors } = await ask<{ resources: readonly { jsonSchema: Schema }[] }>(
        gateway.url,
        query,
        {},
        headers,
      );
      expect(errors).toBeUndefined();
      const schema = data?.resources[0]?.jsonSchema;
      if (schema === undefined) throw new Error('no schema yet');
      return schema;
    });
  }

  test('a built-in kind has that of OpenAPI v2', async () => {
    const { required, properties } = await schemaOf('Deployment', plane.token);
    expect(required).toEqual(expect.arrayContaining(['apiVersion', 'kind']));
    expect(properties?.['kind']?.const).toBe('Deployment');
    expect(properties?.['spec']?.description).toContain('Specification');
  });

  test('a custom kind has that of its definition, or of OpenAPI v2 for those who may not read it', async () => {
    const whole = await schemaOf('Gauge', plane.token);
    const part = await schemaOf('Gauge', 'token-of-alice');
    for (const { properties } of [whole, part]) expect(properties?.['kind']?.const).toBe('Gauge');
    expect(whole.additionalProperties).toBe(false);
    expect(part.additionalProperties).not.toBe(false);
  });
});
