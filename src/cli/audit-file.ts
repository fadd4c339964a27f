/** The file of --audit-log: lines are appended, and nothing is ever cut. */
import { createWriteStream } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { standardOutput } from '../base/output/standard-streams.ts';
import { type AuditLog, auditLines } from '../operation/audit.ts';

/**
 * Opens the file, or standard output for `-`. Resolves when lines can be written.
 * @throws PortolanError CONFIGURATION for a file that cannot be written.
 */
export async function openAuditFile(
  path: string,
  log: Logger,
): Promise<{ readonly audit: AuditLog; close(): Promise<void> }> {
  if (path === '-') {
    return { audit: auditLines((line) => standardOutput.write(line), systemClock.now), close: async () => {} };
  }
  const file = createWriteStream(path, { flags: 'a', mode: 0o600 });
  await new Promise<void>((resolve, reject) => {
    file.once('open', () => resolve());
    file.once('error', (error) =>
      reject(new PortolanError('CONFIGURATION', `--audit-log: ${path} cannot be written: ${messageOf(error)}.`)),
    );
  });
  file.on('error', (error) => log.error({ error: messageOf(error) }, 'the audit log cannot be written'));
  return {
    audit: auditLines((line) => file.write(line), systemClock.now),
    close: () => new Promise((resolve) => file.end(() => resolve())),
  };
}
