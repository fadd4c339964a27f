/** What the bar below the result makes of an answer and of a request. */
import { describe, expect, test } from 'vitest';
import { curlOf } from '../../web/playground/panels/curl.ts';
import { rowsOf } from '../../web/playground/panels/rows.ts';

describe('the rows of an answer', () => {
  test('are the nodes of the connection nearest to the root, with a column for each path to scalars', () => {
    const metadata = (name: string) => ({ name, labels: null });
    const nodes = [
      { id: 'AV', metadata: metadata('a'), ports: [80, 443], columns: [{ name: 'Ready', value: '1/1' }] },
      { id: 'AW', metadata: metadata('b'), ports: [], columns: [{ name: 'Age', value: null }], ready: false },
    ];
    expect(rowsOf({ pods: { totalCount: 2, nodes } })).toEqual({
      columns: ['metadata.name', 'ports', 'columns.Ready', 'columns.Age', 'ready'],
      rows: [
        ['a', '80, 443', '1/1', '', ''],
        ['b', '', '', '', 'false'],
      ],
    });
  });

  test('are those of edges too, and of a connection below an object', () => {
    const edges = [{ node: { name: 'x' } }];
    expect(rowsOf({ one: { name: 'n' }, deep: { owned: { edges } } })).toEqual({
      columns: ['node.name'],
      rows: [['x']],
    });
  });

  test('are ids where nothing else was asked for', () => {
    expect(rowsOf({ pods: { nodes: [{ id: 'AV' }] } })).toEqual({ columns: ['id'], rows: [['AV']] });
  });

  test.each([null, undefined, {}, { pods: null }, { pods: { nodes: [] } }, { object: { name: 'a' } }])(
    'are not there in %j',
    (data) => expect(rowsOf(data)).toBeNull(),
  );
});

describe('the command', () => {
  const request = { query: 'query A { a(b: "it\'s") }', variables: '{ "c": 1 }', headers: '', operationName: 'A' };
  const url = 'http://127.0.0.1:4000/graphql';

  test('sends the document with its variables, quoted for a shell', () => {
    expect(curlOf(url, request, false)).toBe(
      String.raw`curl -sS 'http://127.0.0.1:4000/graphql' \
  -H 'content-type: application/json' \
  --data-binary '{"query":"query A { a(b: \"it'\''s\") }","variables":{"c":1},"operationName":"A"}'`,
    );
  });

  test('has a placeholder for the token, and never the credentials of the header editor', () => {
    const token = '-H "authorization: Bearer $TOKEN"';
    expect(curlOf(url, request, true)).toContain(token);
    const headers = '{ "Authorization": "Bearer secret", "x-portolan-profile": "team" }';
    const command = curlOf(url, { ...request, headers }, false);
    expect(command).toContain(token);
    expect(command).toContain("-H 'x-portolan-profile: team'");
    expect(command).not.toContain('secret');
  });

  test('takes the messages of a subscription as they come', () => {
    const command = curlOf(url, { ...request, query: 'subscription { ticks }', operationName: null }, false);
    expect(command).toContain("curl -sSN 'http://127.0.0.1:4000/graphql'");
    expect(command).toContain("-H 'accept: text/event-stream'");
  });

  test.each(['', '{ "half', 'null'])('leaves out variables and headers that are no object: %s', (text) => {
    expect(curlOf(url, { ...request, variables: text, headers: text }, false)).not.toContain('half');
  });
});
