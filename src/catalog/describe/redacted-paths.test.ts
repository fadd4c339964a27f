import { expect, test } from 'vitest';
import { must } from '../../base/must.ts';
import type { DescribedResource } from '../resources/catalog.ts';
import { describeResource } from './describe.ts';
import { resourceOfCrd } from './from-crd.ts';
import { redactStored } from './redacted-paths.ts';

const string = { type: 'string' };
const crd = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { kind: 'Foo', plural: 'foos' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  password: string,
                  users: { type: 'array', items: { type: 'object', properties: { name: string, key: string } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const resource = must(resourceOfCrd(crd), 'a served version');

function described(...redact: readonly string[]): Pick<DescribedResource, 'redacted' | 'diagnostics'> {
  const { redacted, diagnostics } = describeResource({ cluster: 'east', resource, crd, redact });
  return { redacted, diagnostics };
}

test.each(['foos', 'foos.example.com', 'Foo', 'FOO*', '*'])('%s names the resource', (name) => {
  expect(described(`${name}=spec.password`)).toEqual({ redacted: ['spec.password'], diagnostics: [] });
});

test('another resource is not concerned', () => {
  expect(described('bars=spec.password', 'foos.other.com=spec.password').redacted).toEqual([]);
});

test('paths have their canonical spelling, each once', () => {
  const entries = ['foos=spec.users[].key', 'foos=metadata.annotations.x', '*=metadata.annotations["x"]'];
  expect(described(...entries).redacted).toEqual(['spec.users[].key', 'metadata.annotations["x"]']);
});

test('a path that the kind does not have is a diagnostic, unless the name is a pattern', () => {
  expect(described('*=spec.pasword')).toEqual({ redacted: [], diagnostics: [] });
  const { redacted, diagnostics } = described('foos=spec.pasword');
  expect(redacted).toEqual([]);
  expect(diagnostics).toEqual([
    { cluster: 'east', resource: 'foos.example.com', message: expect.stringContaining('did you mean "password"') },
  ]);
});

test.each(['metadata.name', 'metadata', 'spec.users[0].key', 'health.status', 'count(spec.users[])'])(
  '%s cannot be redacted',
  (path) => {
    const { redacted, diagnostics } = described(`*=${path}`);
    expect(redacted).toEqual([]);
    expect(diagnostics).toHaveLength(1);
  },
);

test('the description of a stored kind gets the paths that it lacks', () => {
  const before = describeResource({ cluster: 'east', resource, crd });
  expect(redactStored(before, ['bars=spec.password'])).toBe(before);
  const after = redactStored(before, ['foos=spec.password']);
  expect(after.redacted).toEqual(['spec.password']);
  expect(redactStored(after, ['foos=spec.password'])).toBe(after);
});
