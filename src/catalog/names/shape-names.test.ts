import { describe, expect, test } from 'vitest';
import { normalizeTree } from '../tree/normalize-tree.ts';
import { SchemaWalker } from '../tree/walk-schema.ts';
import { nameShapes } from './shape-names.ts';

const text = { type: 'string' };
const object = (properties: object): object => ({ type: 'object', properties });
const core = 'io.k8s.api.core.v1.';

function namesOf(
  properties: Record<string, unknown>,
  definitions: Record<string, unknown> = {},
): Record<string, string> {
  const walker = new SchemaWalker(definitions);
  const names = nameShapes('AIoFoo', normalizeTree(walker.root({ properties }), walker.drafts));
  return Object.fromEntries([...names].filter(([, name]) => name !== 'ObjectMeta' && name !== 'OwnerReference'));
}

describe('nameShapes', () => {
  test('joins the type and the path by "_"', () => {
    expect(
      namesOf({
        spec: object({ 'pod-template': object({ a: text }), list: { type: 'array', items: object({ b: text }) } }),
      }),
    ).toEqual({
      $: 'AIoFoo',
      '$.spec': 'AIoFoo_spec',
      '$.spec.list': 'AIoFoo_spec_list',
      '$.spec.pod-template': 'AIoFoo_spec_pod__template',
    });
  });

  test('gives equal shapes the name of the first path, breadth first', () => {
    const same = object({ a: text });
    expect(namesOf({ spec: object({ deep: object({ x: same }), z: same }), top: same })).toEqual({
      $: 'AIoFoo',
      '$.spec': 'AIoFoo_spec',
      '$.top': 'AIoFoo_top',
      '$.spec.deep': 'AIoFoo_spec_deep',
    });
  });

  test('keeps short names of core and meta definitions, and the name of metadata for the object itself', () => {
    const names = namesOf(
      {
        spec: object({
          template: { $ref: `#/definitions/${core}PodTemplateSpec` },
          claims: { type: 'array', items: { $ref: `#/definitions/${core}PersistentVolumeClaim` } },
        }),
      },
      {
        [`${core}PodTemplateSpec`]: object({
          metadata: { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' },
          spec: { $ref: `#/definitions/${core}PodSpec` },
        }),
        [`${core}PodSpec`]: object({ nodeName: text }),
        [`${core}PersistentVolumeClaim`]: object({ spec: text }),
      },
    );
    expect(Object.values(names).sort()).toEqual([
      'AIoFoo',
      'AIoFoo_spec',
      'EmbeddedObjectMeta',
      'EmbeddedPersistentVolumeClaim',
      'PodSpec',
      'PodTemplateSpec',
    ]);
  });

  test('calls list items that are conditions Condition', () => {
    const time = { type: 'string', format: 'date-time' };
    const items = object({ type: text, status: text, reason: text, message: text, lastTransitionTime: time });
    expect(Object.values(namesOf({ status: object({ conditions: { type: 'array', items } }) }))).toEqual([
      'AIoFoo',
      'AIoFoo_status',
      'Condition',
    ]);
  });

  test('names no shape that stands only below a map', () => {
    const names = namesOf({ map: { type: 'object', additionalProperties: object({ a: object({ b: text }) }) } });
    expect(Object.values(names)).toEqual(['AIoFoo']);
  });

  test('gives a shape that is below a map too the path where it is shown', () => {
    const same = object({ a: text });
    const names = namesOf({ a: { type: 'object', additionalProperties: same }, b: object({ c: same, d: text }) });
    expect(Object.values(names)).toEqual(['AIoFoo', 'AIoFoo_b', 'AIoFoo_b_c']);
  });

  test('numbers names that differ in letter case alone, or meet where paths are joined', () => {
    const names = namesOf({
      URL: object({ a: text }),
      url: object({ b: text }),
      a: object({ b: object({ c: text }) }),
      a_b: object({ d: text }),
    });
    expect(Object.values(names).sort()).toEqual([
      'AIoFoo',
      'AIoFoo_URL',
      'AIoFoo_a',
      'AIoFoo_a_b',
      'AIoFoo_a_b_2',
      'AIoFoo_url_2',
    ]);
  });
});
