/** The operation of a request is read from its document: GraphiQL may pass the name of another tab's operation. */
import { describe, expect, test } from 'vitest';
import { chosenOperation } from '../../web/playground/chosen-operation.ts';

describe('the chosen operation', () => {
  const two =
    'query A { pods { totalCount } } subscription B($x: [Int!] = [1]) @y(z: { a: 1 }) { podChanges { phase } }';

  test.each([
    ['{ a }', null, { type: 'query', name: null }],
    ['{ a }', 'Other', { type: 'query', name: null }],
    ['query A { query { mutation } }', 'Other', { type: 'query', name: 'A' }],
    ['# subscription X { a }\nquery A { a(b: "subscription Y { c }") }', null, { type: 'query', name: 'A' }],
    ['subscription { a }', null, { type: 'subscription', name: null }],
    ['subscription subscription { a }', null, { type: 'subscription', name: 'subscription' }],
    ['fragment F on Pod { id } mutation M { a { ...F } }', null, { type: 'mutation', name: 'M' }],
    [two, 'A', { type: 'query', name: 'A' }],
    [two, 'B', { type: 'subscription', name: 'B' }],
    [two, 'Other', null],
    [two, null, null],
    ['', null, null],
    ['{ a( { ', null, { type: 'query', name: null }],
  ])('of %j by %j', (document, name, expected) => {
    expect(chosenOperation(document, name)).toEqual(expected);
  });
});
