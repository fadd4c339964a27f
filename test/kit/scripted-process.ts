/**
 * Stands for a serve process, in tests of what the ingest process does with one. The `file` of its start has the words that it follows, in
 * order; then it is silent.
 *
 *   listen   says that it listens
 *   note     asks for a line in the audit log, and waits for the answer
 *   asked    the same without waiting
 *   fail     says that it cannot start
 *   die      ends
 *   abort    ends as V8 ends a process that has used up its memory
 *   live     gives signs of life until it ends
 */
import type { FromProcess, ToProcess } from '../../src/cli/processes/process-messages.ts';

const send = (message: FromProcess): void => void process.send?.(message);
const answered = (): Promise<void> =>
  new Promise((resolve) => process.on('message', (message: ToProcess) => message.type === 'noted' && resolve()));

async function follow(words: readonly string[]): Promise<void> {
  for (const word of words) {
    if (word === 'listen') send({ type: 'listening', url: '', page: '', aggregatePort: null });
    if (word === 'fail') send({ type: 'failed', code: 'CONFIGURATION', error: 'it cannot start' });
    if (word === 'note' || word === 'asked') send({ type: 'audit', text: `${process.pid}\n`, id: 1 });
    if (word === 'note') await answered();
    if (word === 'note') send({ type: 'missed', lines: process.pid });
    if (word === 'die') process.exit(3);
    if (word === 'abort') process.abort();
    if (word === 'live') setInterval(() => send({ type: 'alive' }), 20);
  }
}

process.on('message', (message: ToProcess) => {
  if (message.type === 'start') void follow(message.start.file.split(' '));
  if (message.type === 'close') process.exit(0);
});
send({ type: 'hello' });
