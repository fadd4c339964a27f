/** `portolan json-schema`: the JSON Schema of the manifests of a kind, for editors, from a running gateway. */
import { z } from 'zod';
import { PortolanError } from '../../base/errors.ts';
import { parsedJson } from '../../base/json.ts';
import { standardOutput } from '../../base/output/standard-streams.ts';
import { shortList } from '../../base/text/short-list.ts';
import { GatewayClient, type RemoteConfig } from './gateway-client.ts';
import { inPlace } from './object-filter.ts';

/** The flags and arguments of the command line. */
interface JsonSchemaFlags {
  /** As in `objects(kinds:)`: Deployment, deployments, deployments.apps. */
  readonly kind: string;
  /** Needed where clusters have different schemas. */
  readonly cluster?: string;
}

const query = `query JsonSchema($kinds: [String!], $clusters: [String!]) {
  resources(kinds: $kinds, clusters: $clusters) { cluster key jsonSchema } }`;

const answerShape = z.looseObject({
  data: z
    .object({
      resources: z.array(z.object({ cluster: z.string(), key: z.string(), jsonSchema: z.unknown() })).nullable(),
    })
    .nullish(),
  errors: z.array(z.object({ message: z.string() })).optional(),
});

/** The gateway may have to read a large document of the API server. */
const patience = 60_000;

/**
 * Prints one schema to `output`.
 * @throws PortolanError NOT_FOUND for a kind that the caller does not see, BAD_USER_INPUT for one of several clusters with different
 * schemas, UPSTREAM_UNAVAILABLE without an answer.
 */
export async function jsonSchema(
  remote: RemoteConfig,
  { kind, cluster }: JsonSchemaFlags,
  output: { write(text: string): unknown } = standardOutput,
): Promise<number> {
  const gateway = new GatewayClient(remote);
  const variables = { kinds: [kind], ...(cluster === undefined ? {} : { clusters: [cluster] }) };
  const text = await gateway.post(JSON.stringify({ query, variables }), patience);
  const answer = answerShape.safeParse(parsedJson(text)).data;
  if (answer === undefined || (answer.data == null && answer.errors === undefined)) throw gateway.notPortolan(text);
  const resources = answer.data?.resources ?? [];
  const found = resources.filter((each) => each.jsonSchema != null);
  const [first] = found;
  if (first === undefined) {
    const absent =
      resources.length === 0
        ? `${kind} is not served${inPlace({ namespace: undefined, cluster })}, or you may not see it: check the kind and --cluster.`
        : `${kind} is an abstract kind: it has no manifests, and so no JSON Schema.`;
    throw new PortolanError('NOT_FOUND', answer.errors?.[0]?.message ?? absent);
  }
  const written = new Set(found.map((each) => JSON.stringify(each.jsonSchema)));
  if (written.size > 1) {
    const names = shortList(
      found.map((each) => `${each.key} of ${each.cluster}`),
      10,
    ).join(', ');
    throw new PortolanError(
      'BAD_USER_INPUT',
      `Several schemas are called ${kind}: choose with --cluster, or by its key: ${names}.`,
    );
  }
  output.write(`${JSON.stringify(first.jsonSchema, null, 2)}\n`);
  return 0;
}
