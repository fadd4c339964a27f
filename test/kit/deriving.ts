/** Derives the objects of abstract kinds in a test's store, until the test ends. */
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { AbstractKind } from '../../src/catalog/abstract/abstract-kind.ts';
import { AbstractKinds } from '../../src/ingest/derive/abstract-kinds.ts';
import type { EngineFixture } from './engine-fixture.ts';

interface Deriving {
  readonly abstract: AbstractKinds;
  /** Ends it before the test does. */
  stop(): Promise<void>;
}

export function deriving(
  { writer }: Pick<EngineFixture, 'writer'>,
  kinds: readonly AbstractKind[],
  isRestricted = false,
): Deriving {
  const abstract = new AbstractKinds({
    writer: writer(),
    clock: systemClock,
    log: silentLogger,
    membersKnown: () => true,
    isRestricted,
  });
  abstract.declare(kinds);
  const unheard = writer().onCommit(({ kindIds }) => abstract.wake(kindIds, false));
  const end = new AbortController();
  const running = abstract.run(end.signal);
  const stop = async (): Promise<void> => {
    unheard();
    end.abort();
    await running;
  };
  onTestFinished(stop);
  return { abstract, stop };
}
