/**
 * The documents in which a server describes itself: those of the simulated cluster are parts of the main server's. The simulated
 * cluster serves fewer resources, subresources and fields; each one that it has is described as on the real server.
 */
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { versionInfo } from '../../sim/builtin/kubernetes-version.ts';
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../../sim/objects/json.ts';
import { type SimCluster, startSimCluster } from '../../sim/sim-cluster.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { ConformanceClient } from './conformance-client.ts';

/** Prose, and what servers say of values that clients leave out: the simulated cluster has its own or none. */
const ownWords = new Set(['description', 'default', 'enum', 'x-kubernetes-unions']);

describeOn([mainServer], 'documents of the simulated cluster and of a real one', { timeout: 60_000 }, () => {
  let plane: ControlPlane;
  let cluster: SimCluster;
  let real: ConformanceClient;
  let simulated: ConformanceClient;

  beforeAll(async () => {
    cluster = await startSimCluster();
    plane = await startControlPlane();
    const target = { nobodyToken: '', compact: async () => {}, stop: async () => {} };
    simulated = new ConformanceClient({ ...target, url: cluster.url, token: 'any' });
    real = new ConformanceClient({ ...target, url: plane.server, token: plane.token });
  }, 120_000);
  afterAll(async () => {
    await cluster?.close();
    await plane?.stop();
  }, 60_000);

  /** Against an older main server nothing is compared: the simulated cluster follows a newer one. */
  const needsVersion = (skip: TestContext['skip']): void =>
    skip(plane.version.minor < Number(versionInfo.minor), `the simulated cluster follows ${versionInfo.gitVersion}`);

  test('are of one minor version', ({ skip }) => {
    needsVersion(skip);
    expect([versionInfo.major, versionInfo.minor].map(Number)).toEqual([plane.version.major, plane.version.minor]);
  });

  test.for([['/api'], ['/apis']])('describe each resource alike in discovery of %s', async ([root = ''], { skip }) => {
    needsVersion(skip);
    const [ours, theirs] = [await resourcesOf(simulated, root), await resourcesOf(real, root)];
    expect(ours.size).toBeGreaterThan(10);
    for (const [name, resource] of ours) expect(withoutExtras(theirs.get(name), resource), name).toEqual(resource);
  });

  test.for([
    ['v2', v2Definitions],
    ['v3', v3Schemas],
  ] as const)('describe each field alike in OpenAPI %s', async ([, read], { skip }) => {
    needsVersion(skip);
    const [ours, theirs] = [await read(simulated), await read(real)];
    expect(ours.size).toBeGreaterThan(100);
    expect([...ours].flatMap(([name, schema]) => schemaDifferences(name, schema, theirs.get(name)))).toEqual([]);
  });
});

/** The resources of aggregated discovery, by group, version and name. */
async function resourcesOf(client: ConformanceClient, root: string): Promise<ReadonlyMap<string, JsonObject>> {
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const { body } = await client.get(root, { accept });
  const found = new Map<string, JsonObject>();
  for (const group of asArray(body.items).map(asObject)) {
    for (const version of asArray(group.versions).map(asObject)) {
      for (const resource of asArray(version.resources).map(asObject)) {
        const name = [at(group, 'metadata', 'name'), version.version, resource.resource].map(asString).join('/');
        found.set(name, resource);
      }
    }
  }
  return found;
}

/** The real server's resource without the subresources that the other one does not have. */
function withoutExtras(real: JsonObject | undefined, { subresources }: JsonObject): JsonObject | undefined {
  const names = asArray(subresources).map((each) => at(each, 'subresource'));
  const kept = asArray(real?.subresources).filter((each) => names.includes(at(each, 'subresource')));
  return real && { ...real, subresources: kept.length > 0 ? kept : undefined };
}

type Schemas = ReadonlyMap<string, JsonObject>;

function schemasOf(named: unknown): Schemas {
  return new Map(Object.entries(asObject(named)).map(([name, schema]) => [name, asObject(schema)]));
}

async function v2Definitions(client: ConformanceClient): Promise<Schemas> {
  return schemasOf((await client.get('/openapi/v2')).body.definitions);
}

async function v3Schemas(client: ConformanceClient): Promise<Schemas> {
  const index = asObject((await client.get('/openapi/v3')).body.paths);
  const schemas = new Map<string, JsonObject>();
  for (const { serverRelativeURL } of Object.values(index).map(asObject)) {
    const { body } = await client.get(asString(serverRelativeURL));
    for (const [name, schema] of schemasOf(at(body, 'components', 'schemas'))) schemas.set(name, schema);
  }
  return schemas;
}

const kindsMark = 'x-kubernetes-group-version-kind';

/** A line for each part of our schema that is different or missing in theirs. */
function schemaDifferences(name: string, ours: JsonObject, theirs: JsonObject | undefined): readonly string[] {
  if (theirs === undefined) return [`${name} is unknown`];
  const { properties, [kindsMark]: kinds, ...own } = structure(ours);
  const { properties: otherProperties, [kindsMark]: otherKinds, ...other } = structure(theirs);
  const parts: readonly (readonly [string, unknown, unknown])[] = [
    [name, own, other],
    // A type of the API machinery is a kind of every group on a real server.
    [`${name} as a kind`, asArray(kinds), asArray(otherKinds).filter((kind) => has(asArray(kinds), kind))],
    ...Object.entries(asObject(properties)).map(
      ([field, property]) => [`${name}.${field}`, property, asObject(otherProperties)[field]] as const,
    ),
  ];
  return parts.flatMap(([part, a, b]) =>
    isDeepStrictEqual(a, b) ? [] : [`${part}: ${JSON.stringify(a)} is ${JSON.stringify(b)} on the real server`],
  );
}

function has(list: readonly unknown[], wanted: unknown): boolean {
  return list.some((item) => isDeepStrictEqual(item, wanted));
}

/** A schema without prose; v3 wraps a reference that stands beside prose in `allOf`, which is undone here. */
function structure(schema: JsonObject): JsonObject {
  const rest = Object.entries(schema).filter(([key]) => !ownWords.has(key));
  const [only] = asArray(schema.allOf);
  if (rest.length === 1 && isObject(only)) return structure(only);
  return Object.fromEntries(rest.map(([key, value]) => [key, partOf(key, value)]));
}

function partOf(key: string, value: unknown): unknown {
  if (key === 'required') return asArray(value).toSorted();
  if (key === 'properties')
    return Object.fromEntries(
      Object.entries(asObject(value)).map(([name, field]) => [name, structure(asObject(field))]),
    );
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? structure(item) : item));
  return isObject(value) ? structure(value) : value;
}
