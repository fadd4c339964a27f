import { expect, test } from 'vitest';
import { parseExact } from '../../catalog/values/values.ts';
import { Database } from '../sqlite/database.ts';
import { createRedaction } from './redaction.ts';

const text = JSON.stringify({
  metadata: { name: 'a' },
  list: [
    { name: 'first', port: 1, secret: 'visible-1' },
    { name: 'second', port: 80, secret: 'visible-2' },
    { name: 'third', port: 80, secret: 'visible-3' },
    { name: 'last', port: 2, secret: 'stays' },
  ],
});

/** The object in JavaScript, in SQLite, and as SQLite makes it where it refuses the text. */
function redactedBy(paths: readonly string[]): readonly unknown[] {
  const redaction = createRedaction(paths);
  const value = parseExact(text);
  const varying = redaction.redact(value);
  const database = new Database(':memory:');
  const sql = varying.length === 0 ? redaction.sql : `jsonb_remove(${redaction.sql}, ${varying.map(() => '?').join()})`;
  const stored = database.statement(`SELECT json(${sql})`).get(text, ...varying)?.[0];
  database.close();
  return [value, JSON.parse(String(stored)), JSON.parse(String(redaction.inJavaScript(text)))];
}

test.each([
  [
    ['list[name=third]', 'list[name=first]', 'list[name=second].secret'],
    [
      ['second', undefined],
      ['last', 'stays'],
    ],
  ],
  [
    ['list[name=second].secret', 'list[name=first]', 'list[name=third]'],
    [
      ['second', undefined],
      ['last', 'stays'],
    ],
  ],
  [['list[].name', 'list[name=first]', 'list[port=80]'], [[undefined, 'stays']]],
  [
    ['list[port=80].secret', 'list[port=1].secret', 'list[].port'],
    [
      ['first', undefined],
      ['second', undefined],
      ['third', undefined],
      ['last', 'stays'],
    ],
  ],
  [['list[]', 'list[name=last].secret'], []],
])('%j remove what they name, however they are ordered', (paths, expected) => {
  for (const value of redactedBy(paths)) {
    const { list } = value as { readonly list: readonly { readonly name?: string; readonly secret?: string }[] };
    expect(list.map(({ name, secret }) => [name, secret])).toEqual(expected);
  }
});
