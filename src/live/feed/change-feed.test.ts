/** The change feed: what it reads of the log, what it hands to subscribers, and how waits end. */
import { describe, expect, test } from 'vitest';
import { join, names, next, others, settled, setUp, things, type Wakes } from '../../../test/kit/change-feed-bench.ts';
import { made } from '../../../test/kit/engine-fixture.ts';
import { eventually } from '../../../test/kit/eventually.ts';
import { PortolanError } from '../../base/errors.ts';
import type { CommittedChanges } from '../../store/types/change.ts';

describe.each<Wakes>(['commit signals', 'bare wakes'])('woken by %s', (wakes) => {
  test('hands out changes after a position, of one kind, and waits for more', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, signal } = setup;
    join(feed, thing);
    const begin = await setup.revision();
    setup.write(things, 'a');
    setup.write(others, 'x');
    setup.write(things, 'b');
    const first = await next(feed, thing, begin, 0, signal);
    expect(names(first)).toEqual(['a', 'b']);
    const position = { ...begin, sequence: first.kind === 'gap' ? -1 : first.upTo };
    expect(position.sequence).toBe((await setup.revision()).sequence);
    const waiting = next(feed, thing, position, 0, signal);
    await settled(setup);
    setup.write(others, 'y');
    setup.write(things, 'c');
    expect(names(await waiting)).toEqual(['c']);
  });

  test('subscribers that begin at the same place share one read of the log', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, signal } = setup;
    const place = await setup.revision();
    setup.write(things, 'a');
    const leases = setup.leases();
    const read = await Promise.all(
      Array.from({ length: 50 }, () => {
        join(feed, thing);
        return next(feed, thing, place, 0, signal);
      }),
    );
    for (const batch of read) expect(names(batch)).toEqual(['a']);
    // One more opens the window.
    expect(setup.leases() - leases).toBeLessThanOrEqual(2);
  });

  test('commits that arrive while a subscriber begins are neither missed nor doubled [L2]', async () => {
    const setup = await setUp(wakes, { batch: 3 });
    const { feed, thing, signal } = setup;
    join(feed, thing);
    const begin = await setup.revision();
    const seen: string[] = [];
    let position = begin;
    let written = 0;
    const writing = (async () => {
      for (; written < 60; written += 1) {
        setup.write(written % 3 === 0 ? others : things, `n${written}`);
        if (written % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    while (seen.length < 40) {
      const batch = await next(feed, thing, position, 0, signal);
      if (batch.kind === 'gap') throw new Error('there is no gap');
      seen.push(...names(batch));
      position = { ...position, sequence: batch.upTo };
    }
    await writing;
    expect(seen).toEqual(Array.from({ length: 60 }, (_, index) => `n${index}`).filter((_, index) => index % 3 !== 0));
  });

  test('a wake in the middle of a pull leads to another pull', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, signal } = setup;
    join(feed, thing);
    const begin = await setup.revision();
    const first = next(feed, thing, begin, 0, signal);
    await settled(setup);
    // The second write is committed when the pull of the first write has taken its snapshot.
    setup.write(things, 'a');
    const batch = await first;
    setup.write(things, 'b');
    const position = { ...begin, sequence: batch.kind === 'gap' ? -1 : batch.upTo };
    expect(names(await next(feed, thing, position, 0, signal))).toEqual(['b']);
  });

  test('subscribers of quiet kinds cost nothing, and fall off no floor, while another kind is busy [L9]', async () => {
    const setup = await setUp(wakes, { maxChanges: 5 }, { changeLog: { maxBytes: 2000, maxAgeMs: 3_600_000 } });
    const { feed, thing, other, signal, fixture } = setup;
    join(feed, thing);
    join(feed, other);
    const begin = await setup.revision();
    const quiet = Array.from({ length: 20 }, () => next(feed, other, begin, 0, signal));
    const busy = next(feed, thing, begin, 0, signal);
    // A subscriber that still reads the log when it is truncated would correctly get a gap. So all must wait first.
    await eventually(() => expect(feed.waiting).toBe(21));
    setup.write(things, 'a');
    await busy;
    let position = await setup.revision();
    const leases = setup.leases();
    for (let round = 0; round < 30; round += 1) {
      setup.write(things, `b${round}`);
      const batch = await next(feed, thing, position, 0, signal);
      if (batch.kind === 'gap') throw new Error('the busy one keeps up');
      position = { ...position, sequence: batch.upTo };
      while (fixture.writer().maintain());
    }
    // One or two leases for each write, and none for the waiting subscribers.
    expect(setup.leases() - leases).toBeLessThanOrEqual(62);
    const floor = await fixture.reader.lease((lease) =>
      lease.all({ sql: 'SELECT max(floor) FROM kind_log', params: [] }),
    );
    expect(Number(floor[0]?.[0])).toBeGreaterThan(begin.sequence);
    setup.write(others, 'x');
    for (const batch of await Promise.all(quiet)) expect(names(batch)).toEqual(['x']);
  });

  test('few changes are read on this thread, and a backlog by a reader thread', async () => {
    const setup = await setUp(wakes, { batch: 3 }, {}, true);
    const { feed, thing, signal, fixture } = setup;
    join(feed, thing);
    let position = await setup.revision();
    const follow = async (): Promise<readonly string[]> => {
      const found: string[] = [];
      while (found.length === 0 || position.sequence < (await setup.revision()).sequence) {
        const batch = await next(feed, thing, position, 0, signal);
        if (batch.kind === 'gap') throw new Error('the log reaches back');
        found.push(...names(batch));
        position = { ...position, sequence: batch.upTo };
      }
      return found;
    };
    const before = feed.reads;
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      const one = follow();
      await settled(setup);
      setup.write(things, name);
      expect(await one).toEqual([name]);
    }
    // A read at once may fail, and is then one of a reader thread.
    expect(feed.reads.now - before.now).toBeGreaterThan(feed.reads.leases - before.leases);
    const { leases } = feed.reads;
    const many = Array.from({ length: 30 }, (_, index) => `n${index}`);
    const second = follow();
    await settled(setup);
    for (const name of many) fixture.apply(things, 'ADDED', made({ name }));
    setup.wake();
    expect(await second).toEqual(many);
    expect(feed.reads.leases).toBeGreaterThan(leases);
  });

  test('changes of a kind without subscribers are never read', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, other, signal } = setup;
    join(feed, other);
    const begin = await setup.revision();
    const waiting = next(feed, other, begin, 0, signal);
    await settled(setup);
    for (let index = 0; index < 200; index += 1) {
      setup.write(things, `n${index}`);
      if (index % 10 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await settled(setup);
    expect(setup.readLog()).toEqual({ changes: 0, bodies: 0 });
    setup.write(others, 'x');
    const batch = await waiting;
    expect(names(batch)).toEqual(['x']);
    expect(setup.readLog()).toEqual({ changes: 1, bodies: 1 });
    expect(feed.reads).toEqual({ leases: setup.leases(), now: 0, changes: 1, bodies: 1 });
    join(feed, thing);
    const busy = await next(feed, thing, begin, 0, signal);
    expect(names(busy)).toHaveLength(200);
    await settled(setup, 0);
    expect(setup.readLog()).toEqual({ changes: 201, bodies: 201 });
    expect(feed.reads).toEqual({ leases: setup.leases(), now: 0, changes: 201, bodies: 201 });
  });

  test('a kind with more changes than one read takes does not hold up another', async () => {
    const setup = await setUp(wakes, { batch: 3 });
    const { feed, thing, other, signal, fixture } = setup;
    join(feed, thing);
    join(feed, other);
    const begin = await setup.revision();
    const busy = next(feed, thing, begin, 0, signal);
    const quiet = next(feed, other, begin, 0, signal);
    await settled(setup, 2);
    for (let index = 0; index < 60; index += 1) fixture.apply(things, 'ADDED', made({ name: `n${index}` }));
    fixture.apply(others, 'ADDED', made({ name: 'x' }));
    setup.wake();
    expect(names(await quiet)).toEqual(['x']);
    // A whole read of the busy kind came before, and at most another one with the change of the quiet kind.
    expect(setup.readLog().changes).toBeLessThanOrEqual(6);
    await busy;
    await eventually(() => expect(feed.held).toBe(61));
    expect(setup.readLog().changes).toBe(61);
  });

  test('a window goes with the last subscriber of its kind, and others stay', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, other, signal } = setup;
    const [first, second] = [join(feed, thing), join(feed, thing)];
    join(feed, other);
    const begin = await setup.revision();
    const waiting = [thing, other].map((kindId) => next(feed, kindId, begin, 0, signal));
    await settled(setup, 2);
    setup.write(things, 'a');
    setup.write(others, 'x');
    await Promise.all(waiting);
    await settled(setup, 0);
    expect(feed.held).toBe(2);
    first.leave();
    first.leave();
    expect(feed.held).toBe(2);
    second.leave();
    expect(feed.held).toBe(1);
    expect(names(await next(feed, other, begin, 0, signal))).toEqual(['x']);
    const before = setup.readLog();
    setup.write(things, 'b');
    await settled(setup, 0);
    expect(setup.readLog()).toEqual(before);
  });

  test('without subscribers nothing is read and nothing is held [L12]', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, signal } = setup;
    setup.write(things, 'a');
    await settled(setup, 0);
    expect(setup.leases()).toBe(0);
    const { leave } = join(feed, thing);
    const begin = await setup.revision();
    const waiting = next(feed, thing, begin, 0, signal);
    await settled(setup);
    setup.write(things, 'b');
    await waiting;
    expect(feed.held).toBe(1);
    leave();
    leave();
    expect(feed.held).toBe(0);
    join(feed, thing);
    setup.write(things, 'c');
    expect(names(await next(feed, thing, begin, 0, signal))).toEqual(['b', 'c']);
  });

  test('the signal, an interruption and the close end a wait', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, other } = setup;
    join(feed, thing);
    join(feed, other);
    const begin = await setup.revision();
    const stop = new AbortController();
    const aborted = next(feed, thing, begin, 0, stop.signal);
    const interrupted = next(feed, other, begin, 0, setup.signal);
    await settled(setup, 2);
    stop.abort();
    expect(await aborted).toEqual({ kind: 'messages', messages: [], upTo: begin.sequence });
    feed.interrupt();
    expect(names(await interrupted)).toEqual([]);
    expect(feed.interruptions).toBe(1);
    // An interruption that was not seen ends the wait before it begins.
    expect(names(await next(feed, thing, begin, 0, setup.signal))).toEqual([]);
    const closed = next(feed, thing, begin, 1, setup.signal);
    const changed = feed.changed(feed.wakes, setup.signal);
    await settled(setup);
    feed.close();
    expect(names(await closed)).toEqual([]);
    await changed;
    expect(feed.closed).toBe(true);
  });

  test('changed resolves at a wake, also at one before it is asked', async () => {
    const { feed, signal } = await setUp(wakes);
    const seen = feed.wakes;
    const waiting = feed.changed(seen, signal);
    feed.wake();
    await waiting;
    await feed.changed(seen, signal);
    await feed.changed(feed.wakes, AbortSignal.abort());
  });

  test('reads that run out of time are tried again, others are told', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, signal } = setup;
    join(feed, thing);
    const begin = await setup.revision();
    setup.write(things, 'a');
    setup.failWith(new PortolanError('TIMEOUT', 'The read was cut; send it again.'));
    await expect(next(feed, thing, begin, 0, signal)).rejects.toMatchObject({ code: 'TIMEOUT' });
    expect(setup.leases()).toBe(3);
    setup.failWith(new PortolanError('INTERNAL_SERVER_ERROR', 'The store is damaged.'));
    await expect(next(feed, thing, begin, 0, signal)).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
    expect(setup.leases()).toBe(4);
    setup.failWith(null);
    expect(names(await next(feed, thing, begin, 0, signal))).toEqual(['a']);
  });

  test('a pull that fails leaves nobody waiting', async () => {
    const setup = await setUp(wakes);
    const { feed, thing, signal } = setup;
    join(feed, thing);
    const waiting = next(feed, thing, await setup.revision(), 0, signal);
    await settled(setup);
    setup.failWith(new PortolanError('INTERNAL_SERVER_ERROR', 'The store is damaged.'));
    setup.write(things, 'a');
    await expect(waiting).rejects.toMatchObject({ code: 'INTERNAL_SERVER_ERROR' });
  });
});

describe('commit signals', () => {
  test('a subscriber of a quiet kind costs no lease, and falls off no floor, while another kind is busy', async () => {
    const setup = await setUp('commit signals', {}, { changeLog: { maxBytes: 2000, maxAgeMs: 3_600_000 } });
    const { feed, other, signal, fixture } = setup;
    join(feed, other);
    const begin = await setup.revision();
    const quiet = next(feed, other, begin, 0, signal);
    await settled(setup);
    // No signal came before the window was opened. After the first one, a read finds that the kind did not change.
    setup.write(things, 'first');
    await settled(setup);
    const leases = setup.leases();
    for (let index = 0; index < 100; index += 1) {
      setup.write(things, `n${index}`);
      while (fixture.writer().maintain());
    }
    await settled(setup);
    expect(setup.leases()).toBe(leases);
    const floor = await fixture.reader.lease((lease) =>
      lease.all({ sql: 'SELECT max(floor) FROM kind_log', params: [] }),
    );
    expect(Number(floor[0]?.[0])).toBeGreaterThan(begin.sequence);
    setup.write(others, 'x');
    expect(names(await quiet)).toEqual(['x']);
    expect(setup.readLog()).toEqual({ changes: 1, bodies: 1 });
  });

  test('that are lost, late or repeated lose and double nothing [L2]', async () => {
    const setup = await setUp('commit signals');
    const { feed, thing, signal, fixture } = setup;
    const commits: CommittedChanges[] = [];
    fixture.writer().onCommit((commit) => commits.push(commit));
    join(feed, thing);
    let position = await setup.revision();
    const seen: string[] = [];
    const write = (key: string, name: string): CommittedChanges => {
      fixture.apply(key, 'ADDED', made({ name }));
      return commits.at(-1) ?? expect.unreachable('it was committed');
    };
    const follow = async (): Promise<void> => {
      const batch = await next(feed, thing, position, 0, signal);
      if (batch.kind === 'gap') throw new Error('there is no gap');
      seen.push(...names(batch));
      position = { ...position, sequence: batch.upTo };
    };
    const first = follow();
    await settled(setup);
    feed.wake(write(things, 'a'));
    await first;
    const second = follow();
    await settled(setup);
    write(things, 'lost');
    // The signal names another kind, and does not connect to the signals before it.
    feed.wake(write(others, 'x'));
    await second;
    const third = follow();
    await settled(setup);
    const late = write(things, 'late');
    feed.wake(write(others, 'y'));
    feed.wake(late);
    feed.wake(late);
    await third;
    expect(seen).toEqual(['a', 'lost', 'late']);
  });

  test('a schema that changed costs no read', async () => {
    const setup = await setUp('commit signals');
    const { feed, other, signal } = setup;
    join(feed, other);
    const waiting = next(feed, other, await setup.revision(), 0, signal);
    await settled(setup);
    const leases = setup.leases();
    feed.interrupt();
    await waiting;
    const again = next(feed, other, await setup.revision(), 1, signal);
    await settled(setup);
    expect(setup.leases()).toBe(leases);
    setup.write(others, 'x');
    expect(names(await again)).toEqual(['x']);
  });
});
