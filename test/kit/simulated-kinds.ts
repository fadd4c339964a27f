/** The simulated cluster's resources, described as ingest describes them. */

import { describeResource } from '../../src/catalog/describe/describe.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { apiVersionOf } from '../../src/catalog/resources/resource.ts';
import { chooseResources } from '../../src/catalog/resources/served.ts';
import { relationTexts } from '../../src/cli/relation-texts.ts';
import { declaredRelations } from '../../src/ingest/context/declared-relations.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { discover } from '../../src/kube/discovery/discovery.ts';
import { fetchOpenApi } from '../../src/kube/discovery/openapi.ts';
import { type SimOptions, startSimCluster } from '../../src/sim/sim-cluster.ts';
import { kubeconfigFolder } from './kubeconfig-file.ts';

/** Starts a simulated cluster, describes what it serves with the shipped relations, and ends it. */
export async function describeSimulatedKinds(
  options: SimOptions = { objects: 'empty' },
  cluster = 'demo',
): Promise<readonly DescribedResource[]> {
  const sim = await startSimCluster(options);
  const folder = kubeconfigFolder();
  const connection = await connect({ kubeconfig: folder.file('config', sim.kubeconfig()), name: cluster });
  try {
    const client = new RestClient(connection);
    const { resources } = await discover(client);
    const { chosen } = chooseResources(resources);
    const openapi = await fetchOpenApi(client, [...new Set(chosen.map(apiVersionOf))]);
    const relations = declaredRelations(
      relationTexts({ relations: undefined, relationAnnotations: false, inferRelations: false }),
    ).set;
    return chosen.map((resource) =>
      describeResource({
        cluster,
        resource,
        relations,
        schemas: openapi.documents.get(apiVersionOf(resource))?.schemas ?? {},
      }),
    );
  } finally {
    await connection.close();
    await sim.close();
    folder.remove();
  }
}
