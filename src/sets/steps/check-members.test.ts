import { expect, test } from 'vitest';
import { fieldChanges } from '../../writes/diff/field-changes.ts';
import { adoptionWarning } from './check-members.ts';

/** The warning of the adoption of an object with so many data, of which a manager owns the ones that it names. */
function warning(count: number, owns: (index: number) => boolean): { readonly text: string; readonly lookups: number } {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const data = (value: string) =>
    Object.fromEntries(indexes.map((index) => [`k${String(index).padStart(5, '0')}`, value]));
  let lookups = 0;
  const owned = Object.fromEntries(
    [...indexes.filter(owns), count].map((index) => [`f:k${String(index).padStart(5, '0')}`, {}] as const),
  );
  const watched = new Proxy(owned, {
    getOwnPropertyDescriptor: (target, name) => {
      lookups += 1;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
  });
  const live = { data: data('a'), metadata: { managedFields: [{ manager: 'm', fieldsV1: { 'f:data': watched } }] } };
  const changes = fieldChanges(live, { ...live, data: data('b') });
  return { text: adoptionWarning({ live, changes } as never), lookups };
}

test('an adoption names five fields that it takes, and the number of the others', () => {
  expect(warning(2, () => false).text).toBe('It is adopted. No field is taken from another manager.');
  expect(warning(2, (index) => index === 1).text).toBe(
    'It is adopted. Fields taken from other managers: data.k00001 (m).',
  );
  expect(warning(7, () => true).text).toContain('data.k00004 (m), and 2 more.');
});

test('of very many changes, the managers of the first are looked up', () => {
  const { text, lookups } = warning(5000, () => true);
  expect(text).toContain('data.k00004 (m), and at least 995 more.');
  expect(lookups).toBeLessThan(8000);
  expect(warning(5000, (index) => index > 4000).text).toBe(
    'It is adopted. None of the first 1000 fields that change is taken from another manager.',
  );
});
