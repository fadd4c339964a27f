/**
 * A serve process of a gateway with --processes. It reads the database file of the ingest process. It answers requests on the
 * port that all serve processes share. process-messages.ts has the messages between it and the ingest process.
 *
 * It ends when the ingest process says so or is gone. Signals are for the ingest process: a terminal sends them to all.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import type { Caller } from '../../access/caller.ts';
import { systemClock } from '../../base/clock.ts';
import { createLogger } from '../../base/create-logger.ts';
import { codeOf, messageOf, PortolanError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { must } from '../../base/must.ts';
import type { ProcessMetrics } from '../../server/health/summed-metrics.ts';
import { saveMemory } from '../parts/memory-saver.ts';
import { Shutdown } from '../parts/shutdown.ts';
import type { Registration } from '../serving/serving.ts';
import { PendingAnswers } from './pending-answers.ts';
import {
  type FromProcess,
  type ProcessStart,
  sealFile,
  type ToProcess,
  type WriteRefusal,
} from './process-messages.ts';

/** Milliseconds between two signs of life. */
const aliveMs = 1000;
/** Milliseconds that a scrape waits for the metrics of the others. */
const patienceMs = 2000;

function send(message: FromProcess, sent: () => void = () => {}): void {
  // The channel is gone when the ingest process is, and this process ends.
  process.send?.(message, undefined, {}, sent);
}

/** The questions of this process to the ingest process, with the answers. */
function questions() {
  const scrapes = new PendingAnswers<readonly ProcessMetrics[]>();
  const charges = new PendingAnswers<WriteRefusal | null>();
  /** The metrics of the others at the last scrape. */
  let others: readonly ProcessMetrics[] = [];
  return {
    /** Those of the last time after `patienceMs`: a scrape does not fail because another process does, and no counter falls. */
    otherMetrics: (own: ProcessMetrics): Promise<readonly ProcessMetrics[]> =>
      scrapes.ask(
        (id) => send({ type: 'measure', id, own }),
        systemClock.sleep(patienceMs).then(() => others),
      ),
    async chargeWrites({ user }: Caller, writes: number): Promise<void> {
      if (user === null) return;
      const refusal = await charges.ask((id) => send({ type: 'charge', id, user, writes }));
      if (refusal !== null) throw new PortolanError('TOO_MANY_REQUESTS', refusal.message, { details: refusal.details });
    },
    measured(id: number, by: readonly ProcessMetrics[]): void {
      others = by;
      scrapes.answered(id, others);
    },
    charged: (id: number, refusal: WriteRefusal | null) => charges.answered(id, refusal),
  };
}

type Registered = NonNullable<ProcessStart['registered']>;

/** The registered clusters. One change is learned after the other. */
function learnedClusters(clusters: Registered | null, log: Logger) {
  let learn: ((clusters: Registered) => Promise<void>) | null = null;
  let learning: Promise<void> = Promise.resolve();
  const learnAll = (): Promise<void> => {
    learning = learning
      .then(() => (clusters === null ? undefined : learn?.(clusters)))
      .catch((error: unknown) => log.error({ error: messageOf(error) }, 'registered clusters cannot be changed'));
    return learning;
  };
  return {
    learnBy(by: typeof learn): Promise<void> {
      learn = by;
      return learnAll();
    },
    changeTo(changed: Registered): Promise<void> {
      clusters = changed;
      return learnAll();
    },
  };
}

/** Loads the modules first: until then, this process says only that it is alive. */
async function serve(start: ProcessStart): Promise<void> {
  const [{ auditOver }, { startServing }, { openReaders }, { RemoteAuditLines }, { RemoteIngest }] = await Promise.all([
    import('../serving/audit-file.ts'),
    import('../serving/serving.ts'),
    import('../serving/store-readers.ts'),
    import('./remote-audit.ts'),
    import('./remote-ingest.ts'),
  ]);
  let { facts } = start;
  const { file, number, progress } = start;
  const config = { ...facts.config, port: start.port, aggregatePort: start.aggregatePort };
  const log = createLogger(config.logLevel).child({ process: number });
  const shutdown = new Shutdown(log);
  const ingest = new RemoteIngest(file, sealFile(start.folder), progress, send);
  const over = new AbortController();
  void saveMemory(systemClock, over.signal, log, ingest.synced);
  const reader = openReaders(config, {
    file,
    seal: ingest.seal,
    sizes: undefined,
    damaged: (damage) => ingest.reportDamage(damage),
    shutdown,
    log,
  });
  const lines = new RemoteAuditLines(send, () => must(facts.audit, 'the state of the audit log'));
  const audit = facts.audit === null ? null : auditOver(lines, systemClock);
  const { otherMetrics, chargeWrites, measured, charged } = questions();
  const clusters = learnedClusters(start.registered, log);
  const registration: Registration = async (learn) => {
    await clusters.learnBy(learn);
    return {
      get refused() {
        return facts.refusedSecrets;
      },
    };
  };
  const endDrain = new AbortController();
  const serving = startServing(config, {
    clusters: start.clusters,
    ingest,
    reader,
    shutdown,
    log,
    live: {
      get waiting() {
        return facts.file.waiting;
      },
      get isRefused() {
        return facts.file.isRefused;
      },
    },
    ...(config.clusterSecrets === undefined ? {} : { registration }),
    shared: {
      audit,
      keys: { startToken: start.startToken, planKey: start.planKey },
      processes: () => facts.processes,
      siblings: { folder: start.folder, number },
      chargeWrites,
      otherMetrics,
    },
  });
  const close = async (): Promise<void> => {
    endDrain.abort();
    over.abort();
    // First, because a process that takes too long is killed.
    audit?.flush();
    await serving.then((server) => server.close()).catch(() => {});
    await shutdown.run();
    process.exit(0);
  };
  const take = async (message: ToProcess): Promise<void> => {
    if (message.type === 'facts') {
      facts = message.facts;
      Object.assign(config, facts.config, { port: config.port, aggregatePort: config.aggregatePort });
    } else if (message.type === 'noted') lines.noted(message.id, message.error);
    else if (message.type === 'charged') charged(message.id, message.refusal);
    else if (message.type === 'measured') measured(message.id, message.others);
    else if (message.type === 'measure') {
      const metrics = await serving.then((server) => server.values());
      send({ type: 'measured', id: message.id, metrics });
    } else if (message.type === 'register') {
      await clusters.changeTo(message.clusters);
      send({ type: 'registered', round: message.round });
    } else if (message.type === 'drain') await (await serving).drain(message.ms, endDrain.signal);
    else if (message.type === 'close') await close();
    else if (message.type !== 'start') ingest.take(message);
  };
  process.on('message', (message: ToProcess) => {
    take(message).catch((error: unknown) =>
      log.error({ error: messageOf(error), message: message.type }, 'a message of the ingest process has failed'),
    );
  });
  const { url, page, aggregatePort } = await serving;
  send({ type: 'listening', url, page, aggregatePort });
}

/**
 * If the machine has no memory left, Linux rather ends this process than the ingest process, with which all others would end. A process may
 * always raise its own score.
 */
function endsFirst(): void {
  const file = '/proc/self/oom_score_adj';
  try {
    writeFileSync(file, String(Math.min(1000, Number(readFileSync(file, 'utf8')) + 100)));
  } catch {
    // Another system, or a sandbox.
  }
}

endsFirst();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
setInterval(() => send({ type: 'alive' }), aliveMs).unref();
process.once('message', (message: ToProcess) => {
  // It ends before it has begun.
  if (message.type !== 'start') process.exit(0);
  serve(message.start).catch((error: unknown) =>
    send({ type: 'failed', code: codeOf(error), error: messageOf(error) }, () => process.exit(1)),
  );
});
send({ type: 'hello' });
