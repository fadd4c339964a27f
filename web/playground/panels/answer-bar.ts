/** The bar below the result: the time and the size of the answer, its rows as a table, and the request as a command. */
import { useGraphiQL } from '@graphiql/react';
import { createElement as h, type ReactElement, useMemo, useState } from 'react';
import { curlOf } from './curl.ts';
import type { LastAnswer } from './last-answer.ts';
import { type Rows, rowsOf } from './rows.ts';

interface AnswerBarProps {
  readonly last: LastAnswer;
  readonly endpoint: string;
  /** Must callers authenticate? */
  readonly authenticates: boolean;
}

/** More rows would make the page slow. */
const mostRows = 500;

export function AnswerBar({ last, endpoint, authenticates }: AnswerBarProps): ReactElement {
  const { answer, measure } = last.use();
  const [asTable, setAsTable] = useState(false);
  const rows = useMemo(() => rowsOf(answer?.data), [answer]);
  const toggle = (): void => setAsTable(!asTable);
  return h(
    'div',
    { className: 'portolan-bar' },
    asTable && rows !== null ? h(Table, rows) : null,
    h(
      'div',
      { role: 'toolbar', 'aria-label': 'Answer' },
      h(
        'span',
        { role: 'status' },
        measure === null ? '' : `${Math.round(measure.ms).toLocaleString('en')} ms · ${sizeOf(measure.bytes)}`,
      ),
      rows === null
        ? null
        : h('button', { type: 'button', 'aria-pressed': asTable, onClick: toggle }, `Table (${rows.rows.length})`),
      h(CopyAsCurl, { endpoint, authenticates }),
    ),
  );
}

function CopyAsCurl({ endpoint, authenticates }: Omit<AnswerBarProps, 'last'>): ReactElement {
  const query = useGraphiQL(({ queryEditor }) => queryEditor);
  const variables = useGraphiQL(({ variableEditor }) => variableEditor);
  const headers = useGraphiQL(({ headerEditor }) => headerEditor);
  const operationName = useGraphiQL((state) => state.operationName);
  const [told, setTold] = useState('');
  const copy = async (): Promise<void> => {
    const request = {
      query: query?.getValue() ?? '',
      variables: variables?.getValue() ?? '',
      headers: headers?.getValue() ?? '',
      operationName: operationName ?? null,
    };
    try {
      // Browsers have no clipboard on plain HTTP, except on loopback.
      await navigator.clipboard.writeText(curlOf(endpoint, request, authenticates));
      setTold('Copied');
    } catch {
      setTold('The browser refuses to copy');
    }
    setTimeout(() => setTold(''), 2000);
  };
  return h('button', { type: 'button', onClick: () => void copy() }, told === '' ? 'Copy as curl' : told);
}

function Table({ columns, rows }: Rows): ReactElement {
  const shown = rows.slice(0, mostRows);
  return h(
    'div',
    { className: 'portolan-rows', role: 'region', 'aria-label': 'Rows', tabIndex: 0 },
    h(
      'table',
      null,
      h('thead', null, h('tr', null, ...columns.map((name) => h('th', { scope: 'col', key: name }, name)))),
      h(
        'tbody',
        null,
        ...shown.map((row, index) => h('tr', { key: index }, ...row.map((cell, at) => h('td', { key: at }, cell)))),
      ),
    ),
    shown.length < rows.length ? h('p', null, `The first ${shown.length} of ${rows.length} rows.`) : null,
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
