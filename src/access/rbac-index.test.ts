import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Dice } from '../../test/fuzz/dice.ts';
import { type RbacManifest, randomRbac, randomRequest, randomUser, rbacNamespaces } from '../../test/kit/rbac-world.ts';
import { userOf } from '../../test/kit/user.ts';
import { RbacIndex } from './rbac-index.ts';
import { readBinding, readRole } from './rbac-objects.ts';

const core = { group: '', resource: 'pods' };

function put(index: RbacIndex, { kind, metadata: { namespace = '', name }, ...body }: RbacManifest): void {
  if (kind === 'Role' || kind === 'ClusterRole') {
    index.setRole(readRole(namespace, name, body));
    return;
  }
  const binding = readBinding(namespace, name, body);
  if (binding === null) index.removeBinding(namespace, name);
  else index.setBinding(binding);
}

function remove(index: RbacIndex, { kind, metadata: { namespace = '', name } }: RbacManifest): void {
  if (kind === 'Role' || kind === 'ClusterRole') index.removeRole(namespace, name);
  else index.removeBinding(namespace, name);
}

test('after any changes the index decides as one that is made anew', () => {
  let allowed = 0;
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const dice = new Dice(seed);
      const index = new RbacIndex();
      const present = new Map<string, RbacManifest>();
      const people = dice.times(4, () => randomUser(dice));
      for (let step = 0; step < 40; step += 1) {
        const object = randomRbac(dice);
        const key = JSON.stringify([object.kind, object.metadata.namespace, object.metadata.name]);
        if (dice.chance(0.2)) {
          present.delete(key);
          remove(index, object);
        } else {
          present.set(key, object);
          put(index, object);
        }
        const fresh = new RbacIndex();
        for (const each of dice.sample([...present.values()], present.size)) put(fresh, each);
        const user = dice.pick(people);
        const request = randomRequest(dice);
        const decision = index.grantsOf(user).allow(request) !== null;
        expect(decision).toBe(fresh.grantsOf(user).allow(request) !== null);
        allowed += decision ? 1 : 0;
      }
    }),
    { numRuns: 200 },
  );
  expect(allowed).toBeGreaterThan(250);
});

test('the reach of a verb is every object on which it is allowed', () => {
  let [some, named] = [0, 0];
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const dice = new Dice(seed);
      const index = new RbacIndex();
      for (let step = 0; step < 30; step += 1) put(index, randomRbac(dice));
      const grants = index.grantsOf(randomUser(dice));
      const verbs = dice.pick([['list'], ['get', 'list'], ['watch']]);
      const reach = grants.reach(verbs, core);
      const names = grants.named(verbs, core);
      const reaches = (namespace: string): boolean => reach === 'all' || reach.has(namespace);
      for (const namespace of rbacNamespaces) {
        const allows = (verb: string, name: string): boolean =>
          grants.allow({ verb, ...core, subresource: '', namespace, name }) !== null;
        // A list names no object. A `get` names one; here one that no rule names.
        const isWhole = verbs.some((verb) => allows(verb, verb === 'get' ? 'other' : ''));
        expect(reaches(namespace)).toBe(isWhole);
        for (const name of ['x', 'y', 'z']) {
          const reached = reaches(namespace) || ['', namespace].some((of) => names.get(of)?.has(name) === true);
          expect(reached).toBe(isWhole || verbs.some((verb) => allows(verb, name)));
          named += reached && !isWhole ? 1 : 0;
        }
        some += reach !== 'all' && reach.has(namespace) ? 1 : 0;
      }
    }),
    { numRuns: 1000 },
  );
  expect(Math.min(some, named)).toBeGreaterThan(50);
});

test('grants are kept until a binding or a role of the user changes', () => {
  const index = new RbacIndex();
  const rules = [{ verbs: ['list'], apiGroups: [''], resources: ['pods'] }];
  const binding = (name: string, user: string) => ({
    metadata: { name, namespace: 'a' },
    roleRef: { kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'User', name: user }],
  });
  const alice = userOf('alice', ['devs']);
  index.setRole(readRole('a', 'reader', { rules }));
  put(index, { kind: 'RoleBinding', ...binding('alice', 'alice') });
  const first = index.grantsOf(alice);
  put(index, { kind: 'RoleBinding', ...binding('bob', 'bob') });
  expect(index.grantsOf(alice)).toBe(first);
  index.setRole(readRole('a', 'reader', { rules: [] }));
  expect(index.grantsOf(alice).reach(['list'], core)).toEqual(new Set());
});
