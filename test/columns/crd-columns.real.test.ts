/** The columns of custom kinds are those of the server's Table, cell by cell, on a new server and on an old one. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { describeOn, mainServer, oldServer } from '../kit/real-servers.ts';
import { type DeclaredColumn, filled, realColumns, variedColumns, variedObjects } from './crd-columns.ts';
import type { Json } from './kind-state.ts';

interface Table {
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly metadata: { name: string } };
  }[];
}

interface Shown {
  readonly metadata: { readonly name: string };
  readonly columns: readonly { readonly name: string; readonly type: string; readonly value: unknown }[];
}

const group = 'columns.example.com';

describeOn([mainServer, oldServer], 'columns of custom kinds', { timeout: 240_000 }, (server) => {
  let plane: ControlPlane;
  let api: RestClient;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    api = new RestClient(await connect({ kubeconfig: plane.kubeconfigPath, env: {} }));
  }, 120_000);
  afterAll(async () => {
    await api?.connection.close();
    await plane?.stop();
  }, 60_000);

  async function define(kind: string, columns: readonly DeclaredColumn[], objects: readonly Json[]): Promise<void> {
    const plural = `${kind.toLowerCase()}s`;
    await api.post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.${group}` },
      spec: {
        group,
        scope: 'Cluster',
        names: { plural, kind },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            additionalPrinterColumns: columns.map((column, index) => ({ ...column, name: `C${index}` })),
          },
        ],
      },
    });
    const path = `/apis/${group}/v1/${plural}`;
    await eventually(() => api.get(path));
    for (const [index, object] of objects.entries()) {
      const metadata = { ...(object['metadata'] as Json | undefined), name: `o${index}` };
      await api.post(path, { ...object, apiVersion: `${group}/v1`, kind, metadata });
    }
  }

  async function differences(
    url: string,
    kind: string,
    columns: readonly DeclaredColumn[],
  ): Promise<readonly string[]> {
    const plural = `${kind.toLowerCase()}s`;
    const table = await api.get<Table>(`/apis/${group}/v1/${plural}`, {
      accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
    });
    const answer = await data<{ objects: { nodes: readonly Shown[] } }>(
      url,
      `{ objects(kinds: ["${plural}.${group}"], first: 100) { nodes { metadata { name } columns { name type value } } } }`,
    );
    const shown = new Map(answer.objects.nodes.map((each) => [each.metadata.name, each.columns]));
    return table.rows.flatMap(({ cells, object: { metadata } }) => {
      const mine = shown.get(metadata.name) ?? [];
      return columns.flatMap(({ type, jsonPath }, index) => {
        const [ours, theirs] = [mine[index + 1]?.value, cells[index + 1] ?? null];
        // An age is a time, also where the server finds no time in the text.
        const isEqual = type === 'date' ? (ours === null) === (theirs === null) : ours === theirs;
        return isEqual
          ? []
          : [`${metadata.name} ${type} ${jsonPath}: ${JSON.stringify(ours)}, not ${JSON.stringify(theirs)}`];
      });
    });
  }

  test('are equal to the cells of the Table', async () => {
    const real = realColumns();
    await define('Varied', variedColumns, variedObjects);
    if (real.length > 0) await define('Real', real, [filled(real), {}]);
    const gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { leaseMs: '10000' });
    try {
      expect(await differences(gateway.url, 'Varied', variedColumns)).toEqual([]);
      if (real.length > 0) expect(await differences(gateway.url, 'Real', real)).toEqual([]);
    } finally {
      await gateway.close();
    }
    process.stdout.write(`${variedColumns.length} columns of every type, ${real.length} of real definitions\n`);
  });
});
