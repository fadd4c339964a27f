import { expect, test } from 'vitest';
import { answerEnd, headOfText } from './answer-text.ts';

const head =
  '{"data":{"pods":null},"extensions":{"portolan":{"generation":"g","cost":{"asked":1,"allowed":2,"spent":0}';

test('an answer is its head and its revision', () => {
  expect(headOfText(`${head}${answerEnd(42)}`)).toBe(head);
});

test.each([
  ['errors', `{"errors":[{"message":"x"}],"data":{"pods":null},"extensions":{"portolan":{"revision":42}}}`],
  ['no data', '{"data":null,"extensions":{"portolan":{"generation":"g","revision":42}}}'],
  ['resources that are not ready', `${head},"revision":42,"notReady":[{"cluster":"east","key":"pods"}]}}}`],
  ['a warning', `${head},"revision":42,"warnings":[{"path":["pods"],"message":"There is no cluster."}]}}}`],
  ['no revision', `${head}}}}`],
])('a partial answer has no head: one with %s', (_what, text) => {
  expect(headOfText(text)).toBeNull();
});
