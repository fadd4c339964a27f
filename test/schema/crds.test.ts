/**
 * Real CustomResourceDefinitions become kinds, each one alone and all together, and no name is used for two kinds.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { assembleCatalog } from '../../src/catalog/assemble.ts';
import { describeResource } from '../../src/catalog/describe/describe.ts';
import { resourceOfCrd } from '../../src/catalog/describe/from-crd.ts';
import { fieldName } from '../../src/catalog/names/field-names.ts';
import { nameShapes } from '../../src/catalog/names/shape-names.ts';
import { resolvePath } from '../../src/catalog/paths/resolve-path.ts';
import type { Catalog, DescribedResource } from '../../src/catalog/resources/catalog.ts';
import type { FieldType } from '../../src/catalog/tree/field-tree.ts';
import { parsePath } from '../../src/catalog/tree/path.ts';
import { alikeNames } from '../kit/alike-names.ts';
import { crdFolder, loadCrds } from '../kit/crds.ts';
import { kubernetesNameOf } from '../kit/kubernetes-name.ts';

describe.skipIf(crdFolder === null)('real CRDs', { timeout: 300_000 }, () => {
  let crds: readonly unknown[] = [];
  const described: DescribedResource[] = [];
  const refused: string[] = [];
  let catalog: Catalog = assembleCatalog([]);

  beforeAll(() => {
    crds = loadCrds().map(({ crd }) => crd);
    const started = performance.now();
    for (const crd of crds) {
      const resource = resourceOfCrd(crd);
      if (resource === null) {
        refused.push('a CustomResourceDefinition without names');
        continue;
      }
      try {
        described.push(describeResource({ cluster: 'one', resource, crd }));
      } catch (error) {
        refused.push(`${resource.kind}: ${String(error)}`);
      }
    }
    const assembling = performance.now();
    catalog = assembleCatalog(described);
    const done = performance.now();
    const shapes = catalog.kinds.reduce((sum, { tree }) => sum + Object.keys(tree.shapes).length, 0);
    const paths = catalog.kinds.reduce((sum, { printerColumns }) => sum + printerColumns.length, 0);
    process.stdout.write(
      `${crds.length} CRDs: ${catalog.kinds.length} kinds, ${shapes} shapes, ${paths} printer columns, ${catalog.diagnostics.length} diagnostics; ` +
        `described in ${((assembling - started) / 1000).toFixed(2)} s, assembled in ${((done - assembling) / 1000).toFixed(2)} s\n`,
    );
    for (const { resource, message } of catalog.diagnostics.slice(0, 20))
      process.stdout.write(`  ${resource}: ${message}\n`);
  }, 300_000);

  test('makes a kind of every one', () => {
    expect(refused).toEqual([]);
    expect(crds.length).toBeGreaterThan(20);
    expect(catalog.kinds.length).toBe(described.length);
  });

  test('makes each alone what it is among all', () => {
    for (const each of described) {
      const alone = assembleCatalog([each]);
      const kind = catalog.kinds.find(({ key }) => key === alone.kinds[0]?.key);
      expect(alone.kinds).toEqual([kind]);
    }
  });

  test('gives no name twice, nor twice but for letter case', () => {
    expect(alikeNames(catalog)).toEqual([]);
  });

  test('names fields so that siblings differ and names lead back', () => {
    for (const { tree, key } of catalog.kinds) {
      for (const shape of Object.values(tree.shapes)) {
        const position = shape.key === tree.root ? 'root' : 'nested';
        const names = shape.fields.map(({ name }) => fieldName(name, position));
        expect(new Set(names).size, `${key} ${shape.key}`).toBe(names.length);
        for (const name of names) expect(name).toMatch(/^(?!__)[A-Za-z_][A-Za-z0-9_]*$/);
        expect(names.map(kubernetesNameOf)).toEqual(shape.fields.map(({ name }) => name));
      }
    }
  });

  test('names every shape that is shown and leaves none without fields', () => {
    for (const { names, tree } of catalog.kinds) {
      const shapes = nameShapes(names.type, tree);
      for (const key of shapes.keys()) {
        const fields = tree.shapes[key]?.fields ?? [];
        expect(fields.length).toBeGreaterThan(0);
        for (const { type } of fields) for (const shown of shownBy(type)) expect(shapes.has(shown)).toBe(true);
      }
      for (const name of shapes.values()) expect(name).toMatch(/^[A-Za-z][A-Za-z0-9_]*$/);
    }
  });

  test('resolves every path that it promotes or prints', () => {
    for (const each of described) {
      for (const { path, type } of each.promoted) {
        const found = resolvePath(each.tree, parsePath(path));
        expect(found).toMatchObject({ type: { kind: 'leaf', type }, many: false, path: { text: path } });
      }
      for (const { path } of each.printerColumns) {
        if (path !== null) expect(resolvePath(each.tree, parsePath(path)).path.text).toBe(path);
      }
      expect(each.promoted.length).toBeLessThanOrEqual(12);
    }
  });

  test('survives the way through JSON text', () => {
    for (const each of described) expect(JSON.parse(JSON.stringify(each))).toEqual(each);
  });
});

function shownBy(type: FieldType): readonly string[] {
  if (type.kind === 'list') return shownBy(type.of);
  return type.kind === 'object' ? [type.shape] : [];
}
