import { buildSchema, execute, parse } from 'graphql';
import { expect, test } from 'vitest';
import { PortolanError } from '../../base/errors.ts';
import { silentLogger } from '../../base/log.ts';
import { codedError } from './coded-error.ts';
import { withoutRepeats } from './repeated-errors.ts';

/** The errors of three objects whose field `value` throws, and of one field beside them. */
async function errorsOf(code: 'TIMEOUT' | 'BAD_USER_INPUT') {
  const schema = buildSchema('type Query { nodes: [Node] beside: String } type Node { value: String }');
  const failing = () => {
    throw new PortolanError(code, 'It took too long.', { details: { unindexed: 'a' } });
  };
  const rootValue = { nodes: Array(3).fill({ value: failing }), beside: failing };
  const result = await execute({ schema, document: parse('{ nodes { value } beside }'), rootValue });
  const { errors = [] } = withoutRepeats(result);
  return errors.map((error) => {
    const { message, path, extensions } = codedError(error, silentLogger);
    return [path?.join('.'), message, extensions];
  });
}

test('a field has one error of a bound of the operation, with the number of its other objects', async () => {
  const [first, ...others] = (await errorsOf('TIMEOUT')).toSorted((one, other) =>
    String(other[0]).localeCompare(String(one[0])),
  );
  const text = 'It took too long. The field is null for the same reason in 2 more places.';
  expect(first).toEqual(['nodes.0.value', text, { code: 'TIMEOUT', unindexed: 'a', leftOut: 2 }]);
  expect(others).toEqual([['beside', 'It took too long.', { code: 'TIMEOUT', unindexed: 'a' }]]);
});

test('other errors stay, each at its object', async () => {
  expect(await errorsOf('BAD_USER_INPUT')).toHaveLength(4);
});
