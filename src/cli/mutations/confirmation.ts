/** The question before something is written. */
import { createInterface } from 'node:readline';

/** Asks; only yes is yes. */
export async function isConfirmed({
  input,
  errors,
}: {
  readonly input: NodeJS.ReadableStream;
  readonly errors: { write(text: string): unknown };
}): Promise<boolean> {
  errors.write('Proceed? [y/N] ');
  const lines = createInterface({ input });
  try {
    for await (const line of lines) return /^\s*y(?:es)?\s*$/i.test(line);
    errors.write('\n');
    return false;
  } finally {
    lines.close();
  }
}
