/** The operation of a request is read from its document: GraphiQL may pass the name of another tab's operation. */
import { describe, expect, test } from 'vitest';
import { chosenOperation } from '../../web/playground/chosen-operation.ts';

describe('the chosen operation', () => {
  const two =
    'query A { pods { totalCount } } subscription B($x: [Int!] = [1]) @y(z: { a: 1 }) { podChanges { phase } }';

  test.each([
    ['{ a }', null, { type: 'query', name: null, isLive: false }],
    ['{ a }', 'Other', { type: 'query', name: null, isLive: false }],
    ['query A { query { mutation } }', 'Other', { type: 'query', name: 'A', isLive: false }],
    [
      '# subscription X { a }\nquery A { a(b: "subscription Y { c }") }',
      null,
      { type: 'query', name: 'A', isLive: false },
    ],
    ['subscription { a }', null, { type: 'subscription', name: null, isLive: false }],
    ['subscription subscription { a }', null, { type: 'subscription', name: 'subscription', isLive: false }],
    ['fragment F on Pod { id } mutation M { a { ...F } }', null, { type: 'mutation', name: 'M', isLive: false }],
    [two, 'A', { type: 'query', name: 'A', isLive: false }],
    [two, 'B', { type: 'subscription', name: 'B', isLive: false }],
    [two, 'Other', null],
    [two, null, null],
    ['', null, null],
    ['query @live { a }', null, { type: 'query', name: null, isLive: true }],
    ['query A($b: Int = 1) @c @live(throttle: 100) { a @live }', null, { type: 'query', name: 'A', isLive: true }],
    ['query A { a @live } query B { b }', 'A', { type: 'query', name: 'A', isLive: false }],
    ['{ a( { ', null, { type: 'query', name: null, isLive: false }],
  ])('of %j by %j', (document, name, expected) => {
    expect(chosenOperation(document, name)).toEqual(expected);
  });
});
