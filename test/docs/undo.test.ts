/** docs/undo.md: its documents run on the demo world, in their order. */
import { expect, test } from 'vitest';
import { must } from '../../src/base/must.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { ask } from '../kit/graphql-client.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const documents = blocksOf(readPage('docs/undo.md'), 'graphql');
const gateway = demoGateway({ pods: 300, churn: false }, { readOnly: 'false' });

interface Change {
  readonly id: string;
  readonly name: string;
  readonly changedPaths: readonly string[] | null;
  readonly before: { readonly metadata: { readonly resourceVersion: string } } | null;
}

interface Item {
  readonly result: string;
  readonly errors: readonly { readonly code: string }[];
}

test('an edit, what changed, its undo, and a plan of a rollback', async () => {
  const headers = { authorization: `Bearer ${new URL(gateway.page).hash.replace('#token=', '')}` };
  const run = async <T>(start: string, variables: Record<string, unknown> = {}): Promise<T> => {
    const document = must(
      documents.find((each) => each.startsWith(start)),
      start,
    );
    const { data, errors } = await ask<T>(gateway.url, document, variables, headers);
    expect([start, errors]).toEqual([start, undefined]);
    return must(data, 'an answer');
  };
  const first = '{ deployments(first: 1, filter: { namespaces: ["shop"] }) { nodes { id yaml } } }';
  interface Found {
    readonly id: string;
    readonly yaml: string;
  }
  const found = await eventually(async () => {
    const { data } = await ask<{ deployments: { nodes: Found[] } }>(gateway.url, first, {}, headers);
    return must(data?.deployments.nodes[0], 'a Deployment');
  });
  const { id, yaml } = found;
  const edited = yaml.replace('\n  labels:\n', '\n  labels:\n    edited: by-hand\n');
  const edit = await run<{ edit: { items: Item[] } }>('mutation Edit', { id, base: yaml, edited });
  expect(edit.edit.items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
  const { changes } = await run<{ changes: { nodes: Change[] } }>('query WhatChanged');
  const change = must(
    changes.nodes.find((each) => each.id === id),
    'the change',
  );
  const version = must(change.before, 'a state before').metadata.resourceVersion;
  const undone = await run<{ revert: { items: Item[] } }>('mutation Undo', { id, version });
  expect(undone.revert.items).toMatchObject([{ result: 'CHANGED', errors: [] }]);
  const { data } = await ask<{ object: { yaml: string } }>(
    gateway.url,
    `{ object(id: "${id}") { yaml } }`,
    {},
    headers,
  );
  expect(data?.object.yaml).not.toContain('by-hand');
  const rollback = await run<{ rollback: { items: Item[] } }>('mutation Rollback', { id });
  expect(rollback.rollback.items).toHaveLength(1);
});
