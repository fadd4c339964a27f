/** Builds keep the types of unchanged kinds, and blame the right kind for a failure. */
import fc from 'fast-check';
import { type GraphQLObjectType, type GraphQLSchema, printSchema } from 'graphql';
import { expect, test } from 'vitest';
import { changingDescriptions } from '../../../test/kit/changing-catalog.ts';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import { gadget, gadgets, widget, widgets } from '../../../test/kit/graphql-world.ts';
import { randomRuns } from '../../../test/kit/random-runs.ts';
import { describeSimulatedKinds } from '../../../test/kit/simulated-kinds.ts';
import { must } from '../../base/must.ts';
import { runSteps } from '../../base/steps.ts';
import { assembleCatalog, CatalogAssembler } from '../../catalog/assemble.ts';
import type { Catalog, CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Shape } from '../../catalog/tree/field-tree.ts';
import { buildGeneration, GenerationBuilder } from './build-generation.ts';
import type { RelationFields } from './kind-shells.ts';

function catalogOf(...kinds: readonly CatalogKind[]): Catalog {
  return { kinds, typePrefix: '', diagnostics: [], hash: kinds.map(({ hash }) => hash).join() };
}

const [gadgetKind, widgetKind] = assembleCatalog([widget(), gadget()]).kinds.map((kind) => must(kind, 'a kind'));
const gizmoKind = assembleCatalog([describedCrd({ kind: 'Gizmo', plural: 'gizmos', properties: {} })]).kinds[0];
const kinds = {
  gadget: must(gadgetKind, 'gadgets'),
  widget: must(widgetKind, 'widgets'),
  gizmo: must(gizmoKind, 'gizmos'),
};

const fieldsOf = (schema: GraphQLSchema, type: string): readonly string[] =>
  Object.keys((schema.getType(type) as GraphQLObjectType).getFields());

/** The kind with another root shape. */
function withRoot(kind: CatalogKind, change: (root: Shape) => Shape): CatalogKind {
  const { tree } = kind;
  const root = change(must(tree.shapes[tree.root], 'the root'));
  return { ...kind, hash: `${kind.hash}-changed`, tree: { ...tree, shapes: { ...tree.shapes, [tree.root]: root } } };
}

const broken = (kind: CatalogKind): CatalogKind =>
  withRoot(kind, (root) => ({ ...root, fields: [{ name: 'odd', type: { kind: 'leaf', type: 'Strange' as never } }] }));
const described = (kind: CatalogKind): CatalogKind => ({ ...kind, hash: `${kind.hash}-new`, description: 'New.' });

/** Gadgets lead to widgets, and widgets to gizmos. */
const relations: RelationFields = (kind, shellsOf) => {
  const target = shellsOf({ [gadgets]: widgets, [widgets]: 'gizmos.example.com' }[kind.key] ?? 'nothing');
  return target === undefined
    ? {}
    : {
        next: { type: target.connection, args: { filter: { type: target.filter } } },
        metadata: { type: target.object },
      };
};

test('a kind that fails costs itself only, also where others refer to it', () => {
  const builder = new GenerationBuilder({ relations });
  const failed = runSteps(builder.build(catalogOf(kinds.gadget, broken(kinds.widget), kinds.gizmo)));
  expect(failed.diagnostics).toEqual([
    { cluster: 'east', resource: widgets, message: expect.stringContaining('Strange') },
  ]);
  expect(fieldsOf(failed.schema, 'ExampleComGadget')).not.toContain('next');
  expect(fieldsOf(failed.schema, 'ExampleComGizmo')).toContain('metadata');
  expect(Object.keys(failed.schema.getTypeMap()).filter((name) => name.startsWith('ExampleComWidget'))).toEqual([]);

  const mended = runSteps(builder.build(catalogOf(kinds.gadget, kinds.widget, kinds.gizmo)));
  expect(mended.diagnostics).toEqual([]);
  const { next, metadata } = (mended.schema.getType('ExampleComGadget') as GraphQLObjectType).getFields();
  expect(next?.type).toBe(mended.schema.getType('ExampleComWidgetConnection'));
  expect(String(metadata?.type)).toBe('ObjectMeta!');
  expect(next?.args[0]?.type).toBe(mended.schema.getType('ExampleComWidgetFilter'));
});

test('a kind is kept as long as it and all that it refers to are the same', () => {
  const builder = new GenerationBuilder({ relations });
  const build = (...some: readonly CatalogKind[]) => runSteps(builder.build(catalogOf(...some))).schema;
  const types = ['ExampleComGadget', 'ExampleComWidget', 'ExampleComGizmo'];
  const keptBetween = (before: GraphQLSchema, after: GraphQLSchema) =>
    types.map((name) => before.getType(name) === after.getType(name));
  const first = build(kinds.gadget, kinds.widget, kinds.gizmo);
  expect(keptBetween(first, build(kinds.gadget, kinds.widget, kinds.gizmo))).toEqual([true, true, true]);
  const changed = build(kinds.gadget, described(kinds.widget), kinds.gizmo);
  expect(keptBetween(first, changed)).toEqual([false, false, true]);
  const without = build(kinds.gadget, kinds.gizmo);
  expect(keptBetween(changed, without)).toEqual([false, false, true]);
  const other = build(described(kinds.gadget), kinds.gizmo);
  expect(keptBetween(without, other)).toEqual([false, true, true]);
  // A type that refers to a missing kind is made again when the kind is added.
  expect(keptBetween(other, build(kinds.widget, kinds.gizmo))).toEqual([false, false, true]);
});

const podSpec = 'io.k8s.api.core.v1.PodSpec';

/** Two kinds of kube-apiserver that share PodSpec. */
async function sharingKinds(): Promise<readonly [deployment: CatalogKind, job: CatalogKind]> {
  const all = await describeSimulatedKinds();
  const found = assembleCatalog(all).kinds.filter(({ key }) => key === 'deployments.apps' || key === 'jobs.batch');
  return [must(found[0], 'deployments'), must(found[1], 'jobs')];
}

test('a definition that cannot be made is the fault of the kind whose tree it comes from', async () => {
  const [deployment, job] = await sharingKinds();
  const spec = must(deployment.tree.shapes[podSpec], 'deployments have a PodSpec');
  const shapes = {
    ...deployment.tree.shapes,
    [podSpec]: {
      ...spec,
      fields: [{ ...must(spec.fields[0], 'a field'), type: { kind: 'leaf', type: 'Strange' as never } } as const],
    },
  };
  const bad: CatalogKind = { ...deployment, tree: { ...deployment.tree, shapes } };
  const { schema, diagnostics, kind } = buildGeneration(catalogOf(bad, job));
  expect(diagnostics).toMatchObject([{ resource: 'deployments.apps' }]);
  expect(kind('jobs.batch')).toBe(job);
  expect(fieldsOf(schema, 'PodSpec').length).toBe(spec.fields.length);
});

test('kinds that share definitions are made anew together, others are kept', async () => {
  const [deployment, job] = await sharingKinds();
  const builder = new GenerationBuilder();
  const first = runSteps(builder.build(catalogOf(deployment, job, kinds.widget))).schema;
  const second = runSteps(builder.build(catalogOf(described(deployment), job, kinds.widget))).schema;
  const same = ['Deployment', 'Job', 'PodSpec', 'ExampleComWidget'].map(
    (name) => first.getType(name) === second.getType(name),
  );
  expect(same).toEqual([false, false, false, true]);
  expect(second.getType('ExampleComWidgetFilter')).toBe(first.getType('ExampleComWidgetFilter'));
});

test('a kind that has a type of another one is left out', () => {
  const { diagnostics, kind } = buildGeneration(
    catalogOf(kinds.gadget, { ...kinds.widget, names: { ...kinds.widget.names, type: 'ExampleComGadget' } }),
  );
  expect(diagnostics).toMatchObject([
    { resource: widgets, message: expect.stringContaining('Another kind has the type ExampleComGadget') },
  ]);
  expect(kind(gadgets)).toBeDefined();
});

test('a name that a failing kind has is free for the others', () => {
  const names = { ...kinds.widget.names, list: kinds.gadget.names.list };
  const { diagnostics, schema } = buildGeneration(catalogOf(broken(kinds.gadget), { ...kinds.widget, names }));
  expect(diagnostics.map(({ resource }) => resource)).toEqual([gadgets]);
  expect(String(schema.getQueryType()?.getFields()[names.list]?.type)).toBe('ExampleComWidgetConnection');
});

test('one generation after another prints what each prints when it is built from nothing', () => {
  fc.assert(
    fc.property(changingDescriptions, (history) => {
      const [assembler, builder] = [new CatalogAssembler(), new GenerationBuilder()];
      for (const some of history) {
        const { schema, diagnostics } = runSteps(builder.build(runSteps(assembler.assemble(some))));
        const fresh = buildGeneration(assembleCatalog(some));
        expect(printSchema(schema)).toBe(printSchema(fresh.schema));
        expect(diagnostics).toEqual(fresh.diagnostics);
      }
    }),
    { numRuns: randomRuns(15, 60) },
  );
});

test('builds that are given up in the middle leave nothing wrong', () => {
  fc.assert(
    fc.property(changingDescriptions, fc.nat(400), (history, steps) => {
      const [assembler, builder] = [new CatalogAssembler(), new GenerationBuilder()];
      for (const some of history) {
        const givenUp = builder.build(runSteps(assembler.assemble(some)));
        for (let step = 0; step < steps; step += 1) givenUp.next();
        givenUp.return(undefined as never);
      }
      const last = history.at(-1) ?? [];
      const { schema } = runSteps(builder.build(runSteps(assembler.assemble(last))));
      expect(printSchema(schema)).toBe(printSchema(buildGeneration(assembleCatalog(last)).schema));
    }),
    { numRuns: randomRuns(15, 40) },
  );
});

test('a build that was given up is gone on from', () => {
  const builder = new GenerationBuilder();
  const catalog = catalogOf(kinds.gadget, kinds.widget, kinds.gizmo);
  const steps = (): number => {
    let count = 0;
    for (const _ of builder.build(catalog)) count += 1;
    return count;
  };
  const fresh = [...new GenerationBuilder().build(catalog)].length;
  const givenUp = builder.build(catalog);
  for (let step = 0; step < fresh / 2; step += 1) givenUp.next();
  givenUp.return(undefined as never);
  const resumed = steps();
  expect(resumed).toBeLessThan(fresh);
  expect(steps()).toBeLessThan(resumed);
});
