/** A gateway that writes, with all that it tells: its answers, its log and its audit. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunningGateway, runGateway } from './gateway.ts';
import type { Answer } from './graphql-client.ts';
import { recordedLogger } from './recorded-logger.ts';
import { sharedDirectory } from './temporary-directory.ts';
import { send, type Written } from './writes-suite.ts';

/** A line about a write in the audit log. */
export interface WriteLine {
  readonly event: string;
  readonly stage: 'intended' | 'outcome';
  readonly verb: string;
  readonly name: string | null;
  readonly resource: string;
  readonly outcome?: string;
}

/** The name of the one cluster of a writing gateway. */
export const clusterName = 'east';

export class WritingGateway {
  readonly #gateway: RunningGateway;
  readonly #auditLog: string;
  readonly #logged: readonly object[];
  readonly #answers: string[] = [];

  private constructor(gateway: RunningGateway, auditLog: string, logged: readonly object[]) {
    this.#gateway = gateway;
    this.#auditLog = auditLog;
    this.#logged = logged;
  }

  /** Starts one without authentication over one cluster. */
  static async start(kubeconfig: string, flags: Readonly<Record<string, unknown>> = {}): Promise<WritingGateway> {
    const auditLog = join(sharedDirectory('audit'), 'audit.jsonl');
    const { logger, entries } = recordedLogger();
    const own = { readOnly: 'false', callerWrites: '1000000', callerCost: '1000000000', auditLog };
    const gateway = await runGateway({ name: clusterName, kubeconfig }, { ...own, ...flags }, logger);
    return new WritingGateway(gateway, auditLog, entries);
  }

  get url(): string {
    return this.#gateway.url;
  }

  /** The headers of a request that may write. */
  get headers(): Readonly<Record<string, string>> {
    return { authorization: `Bearer ${new URL(this.#gateway.page).hash.replace('#token=', '')}` };
  }

  /** The whole answer of a mutation; the variables are its arguments. */
  async answer(verb: string, args: Record<string, unknown>): Promise<Answer<Record<string, Written>>> {
    const answer = await send(this.url, verb, args, this.headers);
    this.#answers.push(JSON.stringify(answer));
    return answer;
  }

  /** What the mutation did. @throws when the answer has errors. */
  async write(verb: string, args: Record<string, unknown>): Promise<Written> {
    const { data, errors } = await this.answer(verb, args);
    const written = data?.[verb];
    if (errors !== undefined || written === undefined) throw new Error(JSON.stringify(errors));
    return written;
  }

  /** The lines of the audit about writes. */
  audit(): readonly WriteLine[] {
    return writeLines(this.#auditLog);
  }

  /** All that it has told so far. */
  said(): string {
    const audit = existsSync(this.#auditLog) ? readFileSync(this.#auditLog, 'utf8') : '';
    return [...this.#answers, audit, JSON.stringify(this.#logged, withErrors)].join('\n');
  }

  close(): Promise<void> {
    return this.#gateway.close();
  }
}

/** The lines of an audit log about writes. */
export function writeLines(auditLog: string): readonly WriteLine[] {
  const lines = existsSync(auditLog) ? readFileSync(auditLog, 'utf8').split('\n') : [];
  return lines.flatMap((line) => {
    if (line === '') return [];
    const entry = JSON.parse(line) as WriteLine;
    return entry.event === 'write' ? [entry] : [];
  });
}

/** Errors with their messages, which JSON leaves out. */
function withErrors(_name: string, value: unknown): unknown {
  return value instanceof Error ? { ...value, message: value.message, stack: value.stack, cause: value.cause } : value;
}
