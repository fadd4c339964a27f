/**
 * What the JSON Schema of a kind takes and refuses is what the API server does with strict field validation, by random manifests of all
 * built-in kinds and of custom ones. JSON Schema cannot express everything that a server decides, so each difference must have one of the
 * causes below, by the server's own words. PORTOLAN_MANIFESTS is the number for each kind; PORTOLAN_CRDS adds real custom kinds.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { recordOr, records, textOr } from '../../src/base/json.ts';
import type { Resource } from '../../src/catalog/resources/resource.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { loadCrds } from '../kit/crds.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import { dryRun, type ServerVerdict, validatorOf } from '../kit/manifest-verdicts.ts';
import { RandomManifests } from '../kit/random-manifests.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { seededRandom } from '../kit/seeded-random.ts';

type Served = Resource & { readonly key: string; readonly jsonSchema: Readonly<Record<string, unknown>> };

interface Crd {
  readonly spec: { readonly group: string };
}

const perKind = Number(process.env['PORTOLAN_MANIFESTS'] ?? randomRuns(4, 10));
const customKinds = 60;
const gauges = parse(readFileSync(fileURLToPath(new URL('data/gauges.yaml', import.meta.url)), 'utf8')) as Crd;

/** Of real custom kinds, those of many groups. */
function chosenCrds(): readonly Crd[] {
  const byGroup = Map.groupBy(
    loadCrds().map(({ crd }) => crd as Crd),
    ({ spec }) => spec.group,
  );
  const turns = [...byGroup.values()].flatMap((crds) => crds.map((crd, turn) => ({ crd, turn })));
  return [
    gauges,
    ...turns
      .sort((a, b) => a.turn - b.turn)
      .slice(0, customKinds - 1)
      .map(({ crd }) => crd),
  ];
}

/** The messages of the CEL rules anywhere in a schema, and the rules without one. */
function rulesOf(schema: unknown): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const own = records((schema as Record<string, unknown>)['x-kubernetes-validations']);
  const texts = own.map(({ message, rule }) => textOr(message ?? rule));
  return [...texts, ...Object.values(schema).flatMap(rulesOf)];
}

/** Why the schema takes what the server refuses; null for no good reason. */
function refusedBecause({ reason, causes }: ServerVerdict, rules: readonly string[] | null): string | null {
  if (reason === 'Forbidden') return 'admission';
  if (reason === 'NoAnswer') return 'the server ends the connection';
  if (reason !== 'Invalid') return null;
  if (rules === null) return `the kind's own validation: ${[...new Set(causes.map((each) => each.reason))].sort()[0]}`;
  // The server adds a cause for the rules that it did not look at.
  const known = causes
    .filter(({ message }) => !message.includes('some validation rules were not checked'))
    .map((each) => customCause(each, rules));
  return known.find((each) => each === null) === null ? null : (known[0] ?? null);
}

function customCause(
  { field, reason, message }: ServerVerdict['causes'][number],
  rules: readonly string[],
): string | null {
  if (/\bmetadata\b/.test(field)) return 'the validation of ObjectMeta';
  if (reason === 'FieldValueDuplicate') return 'keys of a list of type map';
  if (message.includes('must be of type duration')) return 'the format duration';
  return rules.some((rule) => message.includes(rule)) ? 'a CEL rule' : null;
}

describeOn([mainServer], 'JSON Schemas of manifests', { timeout: 600_000 }, (server) => {
  let plane: ControlPlane;
  let gateway: RunningGateway;
  let kinds: readonly Served[];
  let customGroups: ReadonlySet<string>;

  beforeAll(async () => {
    plane = await startControlPlane({ server });
    const items = chosenCrds();
    customGroups = new Set(items.map(({ spec }) => spec.group));
    await plane.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
    await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s']);
    gateway = await runGateway({ name: 'east', kubeconfig: plane.kubeconfigPath }, { callerCost: '1000000000' });
    const names = '{ resources { key group version kind plural namespaced verbs } }';
    const listed = await eventually(async () => {
      const { resources } = await data<{ resources: Served[] }>(gateway.url, names);
      expect(resources.filter(({ group }) => customGroups.has(group)).length).toBeGreaterThanOrEqual(items.length);
      return resources;
    });
    const created = listed.filter(({ verbs, group }) => verbs.includes('create') && group !== 'abstract');
    const all: Served[] = [];
    for (let at = 0; at < created.length; at += 40) {
      const part = created.slice(at, at + 40);
      const query = 'query ($kinds: [String!]) { resources(kinds: $kinds) { key jsonSchema } }';
      const { resources } = await data<{ resources: Served[] }>(gateway.url, query, {
        kinds: part.map(({ key }) => key),
      });
      const schemas = new Map(resources.map(({ key, jsonSchema }) => [key, jsonSchema]));
      all.push(...part.map((each) => ({ ...each, jsonSchema: recordOr(schemas.get(each.key)) })));
    }
    kinds = all;
  }, 180_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  test('equal the dry runs of the server, but for causes that are listed', async () => {
    const counts = new Map<string, number>();
    const unexplained: unknown[] = [];
    for (const [index, kind] of kinds.entries()) {
      const validate = validatorOf(kind.jsonSchema);
      const random = new RandomManifests(kind.jsonSchema, seededRandom(index + 1));
      const rules = rulesOf(kind.jsonSchema);
      const isCustom = customGroups.has(kind.group);
      for (let i = 0; i < perKind; i += 1) {
        const manifest = random.next(`n${i}`, i % 3);
        const ours = validate(manifest);
        const [error] = validate.errors ?? [];
        const verdict = await dryRun(plane, kind, manifest);
        let cause: string | null = `both ${ours ? 'take' : 'refuse'}`;
        if (ours && !verdict.takes) cause = refusedBecause(verdict, isCustom ? rules : null);
        if (!ours && verdict.takes) {
          const isMissing = error?.keyword === 'required' || (error?.keyword === 'type' && !isCustom);
          if (error?.instancePath.startsWith('/status') === true) cause = 'a create does not write the status';
          else cause = !isCustom && isMissing ? 'OpenAPI requires a field that the validation does not' : null;
        }
        if (verdict.reason === 'NoAnswer') process.stdout.write(`no answer: ${JSON.stringify(manifest)}\n`);
        if (cause === null) unexplained.push({ key: kind.key, ours, error, verdict, manifest });
        const line = `${isCustom ? 'custom' : 'built-in'}: ${cause}`;
        counts.set(line, (counts.get(line) ?? 0) + 1);
      }
    }
    const lines = [...counts]
      .sort(([, a], [, b]) => b - a)
      .map(([cause, count]) => `${String(count).padStart(6)}  ${cause}`);
    process.stdout.write(`${kinds.length} kinds, ${perKind} manifests of each\n${lines.join('\n')}\n`);
    expect(unexplained).toEqual([]);
    expect(counts.get('custom: both take')).toBeGreaterThan(0);
    expect(counts.get('built-in: both take')).toBeGreaterThan(kinds.length / 4);
  });
});
