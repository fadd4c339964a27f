import type { Logger } from '../../src/base/log.ts';

/** A logger that keeps what it gets. */
export function recordedLogger(): {
  readonly logger: Logger;
  readonly entries: { readonly level: keyof Logger; readonly fields: object; readonly text: string }[];
} {
  const entries: { level: keyof Logger; fields: object; text: string }[] = [];
  const at =
    (level: keyof Logger) =>
    (fields: object, text: string): void =>
      void entries.push({ level, fields, text });
  const logger: Logger = {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    child: () => logger,
  };
  return { entries, logger };
}
