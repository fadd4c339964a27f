import { expect, test } from 'vitest';
import { ApiError } from '../../kube/http/api-error.ts';
import { ProtocolError } from './protocol-error.ts';
import { readWatchLine, type WatchMessage } from './watch-events.ts';

const pods = {
  group: '',
  version: 'v1',
  plural: 'pods',
  singular: 'pod',
  kind: 'Pod',
  namespaced: true,
  verbs: ['list', 'watch'],
  shortNames: [],
  categories: [],
};
const read = (line: string): WatchMessage => readWatchLine(Buffer.from(line), pods, 'GET /api/v1/pods');

const object =
  '{"kind":"Pod","apiVersion":"v1", "metadata":{"name":"a","uid":"u","resourceVersion":"7"},"n":9007199254740993,"s":"}\\",\\"object\\":{😀"}';

test.each([
  ['as the API server writes it', `{"type":"ADDED","object":${object}}`],
  ['with spaces', ` { "type" : "ADDED" , "object" : ${object} } `],
  ['with its members turned round', `{"object":${object},"type":"ADDED"}`],
  ['with members nobody knows', `{"type":"ADDED","object":${object},"more":{"object":1,"x":[",object"]}}`],
  ['with escapes in a name', `{"type":"ADDED","\\u006fbject":${object}}`],
])('F38, F39: the text of the object is kept, %s', (_, line) => {
  const message = read(line);
  expect(message).toMatchObject({ type: 'event', resourceVersion: '7', event: { type: 'ADDED' } });
  expect(message.type === 'event' && message.event.object.text).toBe(object);
  expect(message.type === 'event' && message.event.object.value).toEqual(JSON.parse(object));
});

test('managedFields are cut out of the text, and what is not JSON stays so', () => {
  const managed = '"managedFields":[{"manager":"a\\"}]","fieldsV1":{"f:x":{".":{}}}}],';
  const line = (text: string) => `{"type":"MODIFIED","object":${text}}`;
  const message = read(line(object.replace('"name"', `${managed}"name"`).replace(' "metadata"', '"metadata"')));
  expect(message.type === 'event' && message.event.object.text).toBe(object.replace(' "metadata"', '"metadata"'));
  expect(message.type === 'event' && message.event.object.value).toEqual(JSON.parse(object));
  expect(message.type === 'event' && message.event.object.managedFields).toBe(
    managed.slice('"managedFields":'.length, -1),
  );
  const broken = object.replace('"name"', `${managed},"name"`).replace(' "metadata"', '"metadata"');
  expect(() => read(line(broken))).toThrow('not JSON');
});

test('a bookmark has a resourceVersion and nothing else', () => {
  const line = '{"type":"BOOKMARK","object":{"kind":"Pod","apiVersion":"v1","metadata":{"resourceVersion":"9"}}}';
  expect(read(line)).toEqual({ type: 'bookmark', resourceVersion: '9', endsInitial: false });
});

test('F6: an ERROR is the Status in it', () => {
  const message = read('{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}');
  expect(message.type === 'error' && message.error).toBeInstanceOf(ApiError);
  expect(message).toMatchObject({ error: { httpStatus: 410, reason: 'Expired' } });
});

test('an object that does not say its kind is taken', () => {
  expect(read('{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u","resourceVersion":"7"}}}').type).toBe(
    'event',
  );
});

const metadata = '"metadata":{"name":"a","uid":"u","resourceVersion":"7"}';
test.each([
  ['bad json', 'F32: no JSON', '{"type":"ADDED","object":{"metadata":{}'],
  ['bad json', 'F32: a broken object', '{"type":"ADDED","object":{"metadata":{}}'],
  ['bad json', 'no object', '{"type":"ADDED","object":null}'],
  ['bad json', 'a list', '{"type":"ADDED","object":[]}'],
  ['unknown event', 'F33: an unknown type', `{"type":"MOVED","object":{${metadata}}}`],
  ['unknown event', 'F33: no type', `{"object":{${metadata}}}`],
  ['wrong kind', 'F33: another kind', `{"type":"ADDED","object":{"kind":"Node","apiVersion":"v1",${metadata}}}`],
  ['wrong kind', 'F33: a Status', '{"type":"ADDED","object":{"kind":"Status","apiVersion":"v1","code":500}}'],
  ['wrong kind', 'another version', `{"type":"ADDED","object":{"kind":"Pod","apiVersion":"v2",${metadata}}}`],
  ['no resourceVersion', 'F34', '{"type":"ADDED","object":{"metadata":{"name":"a","uid":"u"}}}'],
  ['no uid', 'F34', '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"}}}'],
  ['no name', 'F34', '{"type":"ADDED","object":{"metadata":{"uid":"u","resourceVersion":"7"}}}'],
  ['no resourceVersion', 'a bookmark without one', '{"type":"BOOKMARK","object":{"metadata":{}}}'],
])('%s: %s', (reason, _, line) => {
  const thrown = (() => {
    try {
      return read(line);
    } catch (error) {
      return error;
    }
  })();
  expect(thrown).toBeInstanceOf(ProtocolError);
  expect(thrown).toMatchObject({ reason });
});

test('the bookmark that ends the initial events is told apart by its annotation, and nothing but `true` is one', () => {
  const line = (value: unknown) =>
    JSON.stringify({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '9', annotations: { 'k8s.io/initial-events-end': value } } },
    });
  expect(['true', 'false', true].map((value) => read(line(value)))).toMatchObject([
    { endsInitial: true },
    { endsInitial: false },
    { endsInitial: false },
  ]);
});
