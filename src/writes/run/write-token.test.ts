import { expect, test } from 'vitest';
import { engineFixture, made } from '../../../test/kit/engine-fixture.ts';
import { widget, widgets } from '../../../test/kit/graphql-world.ts';
import { localUser } from '../../access/caller.ts';
import { fixedRights } from '../../access/rights.ts';
import { noScopes } from '../../access/scope.ts';
import { beginOperation } from '../../operation/operation.ts';
import { tokenOf, untilShown } from './write-token.ts';

const awaited = (name: string, isRemoval: boolean) => ({
  identity: { cluster: 'east', key: widgets, namespace: 'default', name },
  uid: null,
  resourceVersion: isRemoval ? null : '1',
  isRemoval,
});

test('a token tells nothing of objects that the caller may not get', async () => {
  const fixture = engineFixture({ engine: { rights: fixedRights(() => noScopes) } });
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'there' })]);
  // With a look at the tables, two of these would wait for ten seconds and be refused.
  for (const name of ['there', 'missing']) {
    for (const isRemoval of [true, false]) {
      const operation = beginOperation(fixture.engine.source, localUser);
      await expect(untilShown(operation, tokenOf([awaited(name, isRemoval)]))).resolves.toBeUndefined();
      operation.end();
    }
  }
});

test('what is in the tables is shown at once, and a text that is no token is refused', async () => {
  const fixture = engineFixture();
  await fixture.declare(widget());
  await fixture.sync(widgets, [made({ name: 'there' })]);
  const operation = beginOperation(fixture.engine.source, localUser);
  await expect(untilShown(operation, tokenOf([awaited('missing', true)]))).resolves.toBeUndefined();
  await expect(untilShown(operation, null)).resolves.toBeUndefined();
  for (const text of ['', 'x', 7, Buffer.from('[[1]]').toString('base64url')]) {
    await expect(untilShown(operation, text)).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  }
  operation.end();
});
