/** Path arguments are found in the documents that people write, whole or not, on the schema of the demo world. */
import { readFileSync } from 'node:fs';
import { buildSchema } from 'graphql';
import { describe, expect, test } from 'vitest';
import { pathArgumentAt } from '../../web/playground/path-argument.ts';

const schema = buildSchema(readFileSync(new URL('../../schema/demo.graphql', import.meta.url), 'utf8'));

/** The argument at the `|` of the document. */
function at(document: string): unknown {
  const position = document.indexOf('|');
  const found = pathArgumentAt(schema, document.replace('|', ''), position);
  if (found === null) return null;
  expect(document[found.start - 1]).toBe('"');
  return [found.type, found.written, ...found.kinds];
}

describe('a path argument', () => {
  test.each([
    ['an order', '{ pods(orderBy: [{ path: "status.pha|" }]) { totalCount } }', 'status.pha'],
    ['an order without brackets', '{ pods(orderBy: { direction: DESC, path: "a|" }) }', 'a'],
    ['a term after another', '{ pods(orderBy: [{ path: "a", direction: DESC }, { path: "b|', 'b'],
    [
      'after other arguments',
      '{ pods(first: 2, filter: { status: { phase: { eq: "x" } } }, orderBy: {path: "|"}) }',
      '',
    ],
    ['an unfinished document', '{ pods(orderBy: { path: "|', ''],
    ['a query with a name and variables', 'query Q($first: Int = 20) @x(y: 1) { pods(orderBy: { path: "a|" }) }', 'a'],
    ['under an alias', '{ mine: pods(orderBy: { path: "a|" }) }', 'a'],
    ['after a comment with quotes', '{ # a " in a comment\n pods(orderBy: { path: "a|" }) }', 'a'],
    ['after an unclosed string', '{ pods(filter: { search: "oops\n orderBy: {path: "a|" }) }', null],
    ['a condition by path', '{ pods(filter: { path: [{ path: "spec.x|", eq: 1 }] }) }', 'spec.x'],
    ['inside and, or, not', '{ pods(filter: { or: [{ not: { path: { path: "a|" } } }] }) }', 'a'],
    ['the first path of compare', '{ pods(filter: { compare: { path: "a|" } }) }', 'a'],
    ['the second path of compare', '{ pods(filter: { compare: [{ path: "a", lt: "b|" }] }) }', 'b'],
    ['a value of one object', '{ pod(namespace: "a", name: "b") { value(path: "c|") } }', 'c'],
    ['a value in a list', '{ pods { nodes { metadata { name } value(path: "c|") } } }', 'c'],
    ['a value in edges', '{ pods { edges { node { value(path: "c|") } } } }', 'c'],
    ['a sum', '{ pods { aggregate { sum(path: "a|") } } }', 'a'],
    ['groups', '{ pods { aggregate { groups(by: ["a", "b|"]) } } }', 'b'],
    ['a group without brackets', '{ pods { aggregate { groups(by: "b|") } } }', 'b'],
    ['an order of groups', '{ pods { aggregate { groups(by: "a", orderBy: [{ by: SUM, path: "b|" }]) } } }', 'b'],
    ['having', '{ pods { aggregate { groups(by: "a", having: [{ value: SUM, path: "b|" }]) } } }', 'b'],
    ['a measure of groups', '{ pods { aggregate { groups(by: "a") { aggregate { max(path: "b|") } } } } }', 'b'],
    ['facets', '{ pods { facets(paths: ["a|"]) { path } } }', 'a'],
    ['a subscription', 'subscription { podChanges(filter: { path: [{ path: "a|" }] }) { phase } }', 'a'],
    ['an object of a subscription', 'subscription { podChanges { changes { object { value(path: "a|") } } } }', 'a'],
    ['a fragment', 'fragment Parts on Pod { value(path: "a|") }', 'a'],
    ['an inline fragment', '{ objects(kinds: ["*"]) { nodes { ... on Pod { value(path: "a|") } } } }', 'a'],
    ['after a directive', '{ pods @include(if: true) { nodes { value(path: "a|") } } }', 'a'],
    ['with escaped quotes', String.raw`{ pods { facets(paths: ["metadata.labels[\"a|`, String.raw`metadata.labels[\"a`],
  ])('in %s', (_place, document, written) => {
    expect(at(document)).toEqual(written === null ? null : ['Pod', written]);
  });

  test('of a relation belongs to its objects', () => {
    expect(at('{ pods { nodes { owned { nodes { value(path: "a|") } } } } }')).toEqual(['KubernetesObject', 'a']);
    expect(at('{ pods { nodes { owners { aggregate { sum(path: "a|") } } } } }')).toEqual(['KubernetesObject', 'a']);
  });

  test('of several kinds names them', () => {
    const kinds = ['pods', 'deployments.apps'];
    expect(at('{ objects(kinds: ["pods", "deployments.apps"], orderBy: { path: "a|" }) }')).toEqual([
      'KubernetesObject',
      'a',
      ...kinds,
    ]);
    expect(at('{ objects(kinds: ["pods", "deployments.apps"]) { aggregate { sum(path: "a|") } } }')).toEqual([
      'KubernetesObject',
      'a',
      ...kinds,
    ]);
    expect(at('{ objects(kinds: ["pods", "deployments.apps"]) { nodes { value(path: "a|") } } }')).toEqual([
      'KubernetesObject',
      'a',
      ...kinds,
    ]);
    expect(at('{ objects(kinds: ["pods"]) { nodes { owned { nodes { value(path: "a|") } } } } }')).toEqual([
      'KubernetesObject',
      'a',
    ]);
    expect(at('{ objects(kinds: $kinds, orderBy: { path: "a|" }) }')).toEqual(['KubernetesObject', 'a']);
  });

  test.each([
    ['another string', '{ pods(filter: { search: "a|" }) }'],
    ['a value of a filter', '{ pods(filter: { path: { path: "a", eq: "b|" } }) }'],
    ['a name', '{ pods(orderBy: { pa|th: "a" }) }'],
    ['after the string', '{ pods(orderBy: { path: "a"| }) }'],
    ['a comment', '{ pods # "a|\n }'],
    ['a field that the schema lacks', '{ nothing(orderBy: { path: "a|" }) }'],
    ['a block string', '{ pods(orderBy: { path: """a|""" }) }'],
    ['nothing', '|'],
  ])('is not %s', (_place, document) => {
    expect(at(document)).toBeNull();
  });
});
