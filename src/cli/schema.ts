/** `portolan schema`: the SDL of a cluster, or of some of its kinds. */
import { printSchema as printSdl } from 'graphql';
import { PortolanError } from '../base/errors.ts';
import { standardError, standardOutput } from '../base/output/standard-streams.ts';
import { oneLine } from '../base/text/terminal-line.ts';
import { describeAbstractKinds } from '../catalog/abstract/describe-abstract-kind.ts';
import { assembleCatalog } from '../catalog/assemble.ts';
import type { DescribedResource } from '../catalog/resources/catalog.ts';
import type { Config } from '../config/options.ts';
import { printSemanticNonNull } from '../graphql/introspection/semantic-non-null.ts';
import { buildGeneration } from '../graphql/schema/build-generation.ts';
import { describeCluster } from '../ingest/cluster/describe-cluster.ts';
import type { RelationTexts } from '../ingest/context/declared-relations.ts';
import { selects } from '../ingest/context/selection.ts';
import { type ClusterOptions, connect } from '../kube/client/connection.ts';
import { explainConnectionFailure } from '../kube/client/explain.ts';
import { RestClient } from '../kube/client/rest-client.ts';
import { abstractKindsOf, demoConfig, relationTexts } from './declaration-files.ts';
import { clustersOf } from './options/clusters-of.ts';
import { onDemoCluster } from './options/demo-cluster.ts';
import { refuseUnmatched } from './options/refuse-unmatched.ts';

/**
 * Prints the SDL to standard output, and a line for each kind or field that is left out to standard error.
 * @throws PortolanError NOT_FOUND when a name of --kinds matches no resource, or --exclude leaves none.
 */
export async function printSchema(config: Config): Promise<number> {
  const declarations = config.demo ? demoConfig(config) : config;
  const relations = relationTexts(declarations);
  const { kinds, problems } = abstractKindsOf(declarations);
  for (const problem of problems) standardError.write(`portolan: ${oneLine(problem)}\n`);
  const described = config.demo
    ? await onDemoCluster((cluster) => describeAll([cluster], relations))
    : await describeAll(clustersOf(config), relations);
  const chosen = described.filter(({ resource }) =>
    selects(resource, { include: config.kinds, exclude: config.exclude }),
  );
  refuseUnmatched(
    described.map(({ resource }) => resource),
    config,
  );
  if (chosen.length === 0) {
    throw new PortolanError(
      'NOT_FOUND',
      'No resource matches --kinds and --exclude; name them as kubectl api-resources does.',
    );
  }
  // Kinds that are not chosen keep their names here too.
  const catalog = assembleCatalog(
    [...chosen, ...describeAbstractKinds(kinds, chosen)],
    [...described, ...describeAbstractKinds(kinds, described)].map(({ resource }) => resource),
    config.typePrefix,
  );
  const { schema, diagnostics } = buildGeneration(catalog);
  for (const { cluster, resource, message } of [...catalog.diagnostics, ...diagnostics]) {
    standardError.write(`portolan: ${oneLine(`${resource} of ${cluster}: ${message}`)}\n`);
  }
  standardOutput.write(`${config.semanticNonNull ? printSemanticNonNull(schema) : printSdl(schema)}\n`);
  return 0;
}

async function describeAll(
  clusters: readonly ClusterOptions[],
  relations: RelationTexts,
): Promise<readonly DescribedResource[]> {
  const found: DescribedResource[] = [];
  for (const options of clusters) {
    const connection = await connect(options);
    try {
      const { described, problems } = await describeCluster(new RestClient(connection), connection.cluster, {
        relations,
      });
      for (const { resource, message } of problems)
        standardError.write(`portolan: ${oneLine(`${resource} is left out: ${message}`)}\n`);
      found.push(...described);
    } catch (error) {
      throw explainConnectionFailure(error, connection);
    } finally {
      await connection.close();
    }
  }
  return found;
}
