/** Cells that follow the logs of others. */
import { systemClock } from '../../src/base/clock.ts';
import { must } from '../../src/base/must.ts';
import { decodeBatch, encodeBatch } from '../../src/log/batch/batch-codec.ts';
import { LogReader } from '../../src/log/read/log-reader.ts';
import type { CellsFixture } from './cells-fixture.ts';

/** Moves what is new from the feeders to the followers. */
export function transferring(feeders: CellsFixture, followers: CellsFixture): () => Promise<void> {
  let now = 0;
  const logs = feeders.writers().map((feeder, cell) => {
    const follower = must(followers.writers()[cell], 'a follower');
    const reader = must(feeders.readers()[cell], 'a reader');
    const clock = { ...systemClock, monotonic: () => (now += 1000) };
    const reserve = async () => feeder.reserveSequence();
    const bounds = { limit: 50, maxBytes: 100_000 };
    return { log: new LogReader({ reader, clock, reserve, bounds }, follower.followed.position()), follower };
  });
  return async () => {
    for (const { log, follower } of logs) {
      for (let quiet = 0; quiet < 3; ) {
        const messages = await decodeBatch(await encodeBatch(await log.next()));
        follower.followed.take(messages);
        quiet = messages.every(({ type }) => type === 'STATUS' || type === 'CLUSTER') ? quiet + 1 : 0;
      }
      while (follower.maintain());
    }
    await followers.engine.refreshCatalog();
  };
}
