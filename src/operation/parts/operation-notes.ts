/**
 * The notes of one operation: what its answer depends on, and what it must tell the caller besides the data. The parts of an operation
 * that read several cells share them.
 */
import { OverBudget } from '../../query/plan/scan-budget.ts';
import type { Missing } from '../answers/answer-extensions.ts';
import type { ResponsePath } from './operation-trace.ts';

/** A probable mistake of the caller. */
interface Warning {
  readonly path: ResponsePath;
  readonly message: string;
}

interface NotAfforded {
  readonly path: ResponsePath;
  readonly rows: number;
  readonly allowed: number;
}

/** An answer has at most as many. */
const mostWarnings = 20;

export class OperationNotes {
  /** Does the answer depend on the time? */
  isTimed = false;
  /** Does the answer depend on more than the objects of `dependencies`? */
  readsMore = false;
  /** Has the operation used its caller's rights or credentials? */
  isPersonal = false;
  /** Has the data the revision of the snapshot? */
  showsRevision = false;
  /** The resourceKeys of the kinds that the reads so far depend on; `*` when they may find rows of any kind. */
  readonly dependencies = new Set<string>();
  readonly #missing = new Map<string, Missing>();
  readonly #overBudget: NotAfforded[] = [];
  readonly #warnings = new Map<string, Warning>();

  get missing(): readonly Missing[] {
    return [...this.#missing.values()];
  }

  /** Notes resources that are missing from the answer. */
  noteMissing(missing: readonly Missing[]): void {
    for (const entry of missing) this.#missing.set(`${entry.cluster}\n${entry.key}`, entry);
  }

  /** Each text once for a field. */
  warn(path: ResponsePath, message: string): void {
    if (this.#warnings.size < mostWarnings) this.#warnings.set(`${path.join('.')} ${message}`, { path, message });
  }

  /** The answer of the field at `path`; null when it was over budget, which is noted. */
  withinBudget<T>(answer: T | OverBudget, path: ResponsePath): T | null {
    if (!(answer instanceof OverBudget)) return answer;
    this.#overBudget.push({ path, rows: answer.rows, allowed: answer.allowed });
    return null;
  }

  /** Their part of `extensions.portolan`. */
  extensions(): Record<string, unknown> {
    return {
      ...(this.#overBudget.length === 0 ? {} : { notAfforded: [...this.#overBudget] }),
      ...(this.#warnings.size === 0 ? {} : { warnings: [...this.#warnings.values()] }),
    };
  }
}
