import {
  GraphQLFloat,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLNamedInputType,
  GraphQLString,
  getNamedType,
  isInputObjectType,
} from 'graphql';
import { expect, test } from 'vitest';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import { widget, widgetProperties } from '../../../test/kit/graphql-world.ts';
import { must } from '../../base/must.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import type { CatalogKind, DescribedResource } from '../../catalog/resources/catalog.ts';
import { buildGeneration } from '../schema/build-generation.ts';
import { DefinitionTypes } from '../types/definition-types.ts';
import { FilterTypes } from './filter-types.ts';

function inputs() {
  const types = new FilterTypes((type) => (type === 'Float' ? GraphQLFloat : GraphQLString));
  const definitions = new DefinitionTypes([]);
  return { types, ofKind: (kind: CatalogKind) => types.ofKind(kind, { definitions, enums: new Map() }) };
}

function kindOf(described: DescribedResource): CatalogKind {
  return must(assembleCatalog([described]).kinds[0], 'the catalog has the kind');
}

function fieldType(type: GraphQLInputObjectType, ...path: readonly string[]): GraphQLInputType {
  let found: GraphQLInputType = type;
  for (const name of path) {
    const named: GraphQLNamedInputType = getNamedType(found);
    if (!isInputObjectType(named)) throw new Error(`${name} is below a leaf`);
    found = must(named.getFields()[name], `${named.name} has ${name}`).type;
  }
  return found;
}

function fieldsOf(type: GraphQLInputType): readonly string[] {
  const named = getNamedType(type);
  return isInputObjectType(named) ? Object.keys(named.getFields()).sort() : [];
}

test('each leaf has the operators of its type', () => {
  const filter = inputs().ofKind(kindOf(widget()));
  const ordered = ['eq', 'exists', 'gt', 'gte', 'in', 'lt', 'lte', 'ne', 'notIn'];
  const text = ['contains', 'endsWith', 'ignoreCase', 'matches', 'startsWith'];
  expect(fieldsOf(fieldType(filter, 'spec', 'name'))).toEqual([...ordered, ...text].sort());
  for (const name of ['replicas', 'total', 'ratio', 'at', 'port']) {
    expect(fieldsOf(fieldType(filter, 'spec', name)), name).toEqual(ordered);
  }
  expect(fieldsOf(fieldType(filter, 'spec', 'paused'))).toEqual(['eq', 'exists', 'ne']);
  expect(fieldsOf(fieldType(filter, 'spec', 'tags'))).toEqual(['every', 'exists', 'none', 'some']);
  expect(fieldsOf(fieldType(filter, 'spec', 'ports', 'some'))).toEqual(['exists', 'id_', 'name', 'number']);
  expect(fieldsOf(fieldType(filter, 'spec', 'template'))).toEqual(['exists', 'id_', 'image', 'pull__policy']);
});

test('nested inputs have the names of the object types, and a description', () => {
  const { types, ofKind } = inputs();
  const filter = ofKind(kindOf(widget()));
  const nested = (...path: readonly string[]) => getNamedType(fieldType(filter, ...path));
  expect([String(nested('spec')), nested('spec')?.description]).toEqual([
    'ExampleComWidget_spec_Filter',
    'Conditions on ExampleComWidget_spec.',
  ]);
  expect(String(nested('spec', 'ports'))).toBe('ExampleComWidget_spec_ports_ListFilter');
  expect(String(nested('spec', 'ports', 'some'))).toBe('ExampleComWidget_spec_ports_Filter');
  expect(String(nested('status', 'conditions'))).toBe('Condition_ListFilter');
  expect(nested('metadata')).toBe(types.metadata);
  for (const path of [['spec'], ['spec', 'ports'], ['spec', 'ports', 'some'], ['status', 'conditions']]) {
    expect(nested(...path)?.description, path.join('.')).toMatch(/^Conditions on /);
  }
});

test('a name does not change when the kind gets another field', () => {
  const { spec } = widgetProperties;
  const names = (properties: Readonly<Record<string, unknown>>) => {
    const filter = inputs().ofKind(kindOf(widget('east', properties as typeof widgetProperties)));
    return [String(fieldType(filter, 'spec')), String(fieldType(filter, 'spec', 'ports', 'some'))];
  };
  const more = { ...spec, properties: { ...spec.properties, extra: { type: 'string' } } };
  expect(names({ ...widgetProperties, spec: more })).toEqual(names(widgetProperties));
});

test('values of maps of objects have inputs too, and a name that an object type has gets a suffix', () => {
  const size = { type: 'object', properties: { size: { type: 'string' } } };
  const properties = {
    spec: { type: 'object', properties: { filter: size, volumes: { type: 'object', additionalProperties: size } } },
  };
  const filter = inputs().ofKind(kindOf(describedCrd({ kind: 'Odd', plural: 'odds', properties })));
  expect(String(getNamedType(fieldType(filter, 'spec')))).toBe('ExampleComOdd_spec_FilterInput');
  expect(String(getNamedType(fieldType(filter, 'spec', 'filter')))).toBe('ExampleComOdd_spec_filter_Filter');
  expect(String(getNamedType(fieldType(filter, 'spec', 'volumes')))).toBe('ExampleComOdd_spec_filter_MapFilter');
  expect(String(fieldType(filter, 'spec', 'volumes', 'value'))).toBe('ExampleComOdd_spec_filter_Filter');
});

test('data fields that are called like the words of a filter, or like what the gateway adds, get an underscore', () => {
  const properties = Object.fromEntries(
    ['ids', 'and', 'or', 'not', 'clusters', 'compare', 'labelSelector', 'path', 'raw', 'id', 'plain'].map((name) => [
      name,
      { type: 'string' },
    ]),
  );
  const filter = inputs().ofKind(kindOf(describedCrd({ kind: 'Odd', plural: 'odds', properties })));
  const names = fieldsOf(filter);
  expect(names.filter((name) => name.endsWith('_'))).toEqual([
    'and_',
    'clusters_',
    'compare_',
    'id_',
    'ids_',
    'labelSelector_',
    'not_',
    'or_',
    'path_',
    'raw_',
  ]);
  expect(names).toContain('plain');
  for (const word of ['and_', 'ids_', 'raw_']) expect(String(fieldType(filter, word))).toBe('StringFilter');
});

test('apiVersion and kind follow from the kind; what has nothing to compare can exist', () => {
  const properties = {
    lists: {
      type: 'object',
      properties: { list: { type: 'array', items: { type: 'array', items: { type: 'string' } } } },
    },
  };
  const filter = inputs().ofKind(kindOf(describedCrd({ kind: 'Odd', plural: 'odds', properties })));
  expect(fieldsOf(filter)).toEqual([
    'and',
    'clusters',
    'compare',
    'condition',
    'fieldSelector',
    'health',
    'ids',
    'labelSelector',
    'lists',
    'metadata',
    'namespaces',
    'not',
    'or',
    'path',
    'search',
    'usedBy',
  ]);
  expect(fieldsOf(fieldType(filter, 'lists'))).toEqual(['exists', 'list']);
  expect(fieldsOf(fieldType(filter, 'lists', 'list'))).toEqual(['exists']);
});

test('every input has a name of its own, whatever the fields are called', async () => {
  const object = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } });
  const map = (name: string) => ({ type: 'object', additionalProperties: object(name) });
  const nested = (name: string, of: unknown) => ({ type: 'object', properties: { [name]: of } });
  const properties = {
    spec: {
      type: 'object',
      properties: {
        Filter: object('p'),
        FilterInput: object('q'),
        ListFilter: object('r'),
        a_b: map('x'),
        a: nested('b', map('y')),
        c_d: object('u'),
        c: nested('d', map('v')),
      },
    },
  };
  const odd = describedCrd({ kind: 'Odd', plural: 'odds', properties });
  const filter = inputs().ofKind(kindOf(odd));
  expect(fieldsOf(fieldType(filter, 'spec', 'a_b', 'value'))).toEqual(['exists', 'x']);
  expect(fieldsOf(fieldType(filter, 'spec', 'a', 'b', 'value'))).toEqual(['exists', 'y']);
  expect(fieldsOf(fieldType(filter, 'spec', 'c_d'))).toEqual(['exists', 'u']);
  expect(fieldsOf(fieldType(filter, 'spec', 'c', 'd', 'value'))).toEqual(['exists', 'v']);
  const { diagnostics, schema } = buildGeneration(assembleCatalog([odd]));
  expect(diagnostics).toEqual([]);
  expect(schema.getType('ExampleComOdd')).toBeDefined();
});

test('a data field `exists` of an object gets an underscore', () => {
  const properties = { spec: { type: 'object', properties: { exists: { type: 'string' } } } };
  const filter = inputs().ofKind(kindOf(describedCrd({ kind: 'Odd', plural: 'odds', properties })));
  expect(fieldsOf(fieldType(filter, 'spec'))).toEqual(['exists', 'exists_']);
});

test('shapes that contain each other can be filtered on through either', () => {
  const kind = kindOf(widget());
  const shape = (key: string, fields: readonly (readonly [string, unknown])[]) => ({
    key,
    path: [key],
    fields: fields.map(([name, type]) => ({ name, type })),
  });
  const object = (key: string) => ({ kind: 'object', shape: key });
  const tree = {
    root: 'root',
    shapes: {
      root: shape('root', [['a', object('a')]]),
      // A depth-first search reaches `b` while `a` is not finished, so `b` looks empty then; `zero` comes after `b`.
      a: shape('a', [
        ['b', object('b')],
        ['zero', { kind: 'leaf', type: 'String' }],
      ]),
      b: shape('b', [['a', object('a')]]),
      none: shape('none', [['none', object('none')]]),
    },
  } as unknown as CatalogKind['tree'];
  const filter = inputs().ofKind({ ...kind, tree });
  expect(fieldsOf(fieldType(filter, 'a'))).toEqual(['b', 'exists', 'zero']);
  expect(fieldsOf(fieldType(filter, 'a', 'b', 'a', 'b'))).toEqual(['a', 'exists']);
});
