/**
 * The follower of bench/follower.ts: the real writer on a copy of the feeder's file.
 *
 *   argv: store file -> message: ready -> { batch } -> message: Applied, … · 'begin' · 'end' -> message: FollowerFigures
 */
import { decodeBatch } from '../src/log/batch/batch-codec.ts';
import { Database } from '../src/store/sqlite/database.ts';
import { openWriter } from '../src/store/write/writer.ts';
import { type Applied, type FollowerFigures, type PairOrder, rowsSql } from './follower.messages.ts';
import { threadWrittenBytes } from './support/thread-cpu.ts';

const [file = ''] = process.argv.slice(2);
const writer = openWriter(file, { follows: true });
setInterval(() => void writer.maintain(), 1000);

function spent() {
  const { user, system } = process.cpuUsage();
  const main = process.threadCpuUsage();
  return {
    cpu: (user + system) / 1e6,
    writerCpu: (main.user + main.system) / 1e6,
    walBytes: threadWrittenBytes(String(process.pid)),
  };
}

let before = spent();

function answer(order: PairOrder): FollowerFigures {
  const after = spent();
  const figures = {
    cpu: after.cpu - before.cpu,
    writerCpu: after.writerCpu - before.writerCpu,
    walBytes: after.walBytes - before.walBytes,
  };
  before = after;
  if (order === 'begin') return { ...figures, rows: [] };
  const database = new Database(file, { readonly: true });
  const rows = database
    .statement(rowsSql)
    .all()
    .map(([key, version]) => [String(key), String(version)] as const);
  database.close();
  return { ...figures, rows };
}

process.on('message', async (message: PairOrder | { readonly batch: Uint8Array }) => {
  if (typeof message === 'string') process.send?.(answer(message));
  else {
    const revision = writer.followed.take(await decodeBatch(message.batch));
    process.send?.({ revision, at: Date.now() } satisfies Applied);
  }
});
process.on('disconnect', () => {
  writer.close();
  process.exit(0);
});
process.send?.('ready');
