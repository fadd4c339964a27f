import { expect, test } from 'vitest';
import { terminalLine } from './terminal-line.ts';

const line = (fields: object): string =>
  terminalLine(`${JSON.stringify({ level: 40, time: Date.UTC(2026, 0, 1, 12, 30, 5), ...fields })}\n`);

test('a line has time, level, message and fields', () => {
  expect(line({ cluster: 'east', error: 'no route', resources: ['pods'], msg: 'a cluster cannot be read' })).toBe(
    '12:30:05 warn   a cluster cannot be read  cluster=east error="no route" resources=["pods"]\n',
  );
  expect(line({ level: 30, msg: 'synced' })).toBe('12:30:05 info   synced\n');
});

test('texts of servers cannot move the cursor or add lines', () => {
  expect(line({ error: 'a\nb\u001b[2Jc', msg: 'm\r\n' })).toBe('12:30:05 warn   m  error="a b [2Jc"\n');
});
