/** The simulated cluster's resources, described as ingest describes them. */

import { type SimOptions, startSimCluster } from '../../sim/sim-cluster.ts';
import { describeAbstractKinds } from '../../src/catalog/abstract/describe-abstract-kind.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { abstractKindsOf, demoConfig, relationTexts } from '../../src/cli/declaration-files.ts';
import { demoWorld } from '../../src/cli/options/demo-cluster.ts';
import { describeCluster } from '../../src/ingest/cluster/describe-cluster.ts';
import { connect } from '../../src/kube/client/connection.ts';
import { RestClient } from '../../src/kube/client/rest-client.ts';
import { kubeconfigFolder } from './kubeconfig-file.ts';

/** Starts a simulated cluster, describes what it serves with the relations and abstract kinds that `portolan demo` or a plain gateway reads, and ends it. */
export async function describeSimulatedKinds(
  options: SimOptions = { objects: 'empty' },
  cluster = 'demo',
): Promise<readonly DescribedResource[]> {
  const sim = await startSimCluster(options.objects === 'demo' ? { ...demoWorld(), ...options } : options);
  const folder = kubeconfigFolder();
  const connection = await connect({ kubeconfig: folder.file('config', sim.kubeconfig()), name: cluster });
  try {
    const isDemo = options.objects === 'demo';
    const plain = {
      relations: undefined,
      abstractKinds: undefined,
      relationAnnotations: false,
      inferRelations: isDemo,
    };
    const declarations = isDemo ? demoConfig(plain) : plain;
    const relations = relationTexts(declarations);
    const { described } = await describeCluster(new RestClient(connection), cluster, { relations });
    return [...described, ...describeAbstractKinds(abstractKindsOf(declarations).kinds, described)];
  } finally {
    await connection.close();
    await sim.close();
    folder.remove();
  }
}
