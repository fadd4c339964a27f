/** Metrics of the audit log. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { AuditFacts } from '../../admission/audit.ts';

export class AuditMetrics {
  readonly #writable: Gauge;
  readonly #written: Counter;
  readonly #missing: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#writable = new Gauge({
      name: 'portolan_audit_writable',
      help: '0 while the file of --audit-log cannot be written.',
      registers,
    });
    this.#written = new Counter({
      name: 'portolan_audit_lines_total',
      help: 'Lines that were written to the audit log.',
      registers,
    });
    this.#missing = new Counter({
      name: 'portolan_audit_missing_lines_total',
      help: 'Lines that could not be written. The first line after them tells how many.',
      registers,
    });
  }

  set({ isWritable, written, missing }: AuditFacts): void {
    this.#writable.set(isWritable ? 1 : 0);
    this.#written.reset();
    this.#written.inc(written);
    this.#missing.reset();
    this.#missing.inc(missing);
  }
}
