import { expect, test } from 'vitest';
import { describedCrd } from '../../test/kit/engine-fixture.ts';
import { assembleCatalog } from '../catalog/assemble.ts';
import { servedKinds } from './served-kinds.ts';

interface Names {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

function served(...kinds: readonly Names[]) {
  const described = kinds.map(({ plural, kind, ...names }) => {
    const made = describedCrd({ plural, kind, properties: {} });
    return { ...made, resource: { ...made.resource, ...names } };
  });
  const catalog = assembleCatalog(described);
  const found = servedKinds(catalog, catalog.kinds);
  return { ...found, keys: (...words: string[]) => found.kinds(words).map(({ key }) => key) };
}

const pods = { group: '', plural: 'pods', kind: 'Pod', shortNames: ['po'], categories: ['all'] };
const events = { group: '', plural: 'events', kind: 'Event', shortNames: ['ev'] };
const newEvents = { group: 'events.k8s.io', plural: 'events', kind: 'Event', shortNames: ['ev'] };
const services = { group: '', plural: 'services', kind: 'Service', shortNames: ['svc'], categories: ['all'] };
const portals = {
  group: 'a.example.com',
  plural: 'portals',
  kind: 'Portal',
  shortNames: ['po', 'pt'],
  categories: ['all', 'web'],
};
const parts = {
  group: 'b.example.com',
  plural: 'parts',
  kind: 'Part',
  shortNames: ['pt', 'services'],
  categories: ['pods'],
};

test('a word means a name before a short name before a category', () => {
  const { keys, isSet } = served(pods, events, newEvents, services, portals, parts);
  expect(keys('po')).toEqual(['pods']);
  expect(keys('ev')).toEqual(['events']);
  expect(keys('services')).toEqual(['services']);
  expect(keys('pods')).toEqual(['pods']);
  expect(keys('all')).toEqual(['pods', 'services', 'portals.a.example.com']);
  expect(keys('web', 'svc')).toEqual(['portals.a.example.com', 'services']);
  expect(['all', 'web', '*.example.com', 'pods', 'po', 'nothing'].map(isSet)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('a CRD that comes takes no short name of Kubernetes, and no category that is a name', () => {
  expect(served(pods, portals).keys('po')).toEqual(served(pods).keys('po'));
  expect(served(portals).keys('po')).toEqual(['portals.a.example.com']);
  expect(served(pods, parts).keys('pods')).toEqual(['pods']);
  expect(served(parts).keys('pods')).toEqual(['parts.b.example.com']);
});

test.each([
  ['pt', /^"pt" names kinds of several groups; say which: AExampleComPortal, BExampleComPart\.$/],
  ['servces', /^There is no kind "servces"; did you mean "services"\? Name it by its type \(Pod\)/],
  ['wbe', /did you mean "web"\?/],
  ['', /^There is no kind ""; name it/],
])('%s is refused', (word, message) => {
  const { keys } = served(pods, services, portals, parts);
  expect(() => keys(word)).toThrow(
    expect.objectContaining({ code: 'BAD_USER_INPUT', message: expect.stringMatching(message) }),
  );
});
