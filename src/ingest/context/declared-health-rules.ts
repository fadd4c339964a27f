/** The declared health rules of the ingest thread, from texts that its parent has read. */
import { parse } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import type { DeclaredHealth } from '../../catalog/health/declared-health.ts';
import { checkedHealthRules, type ReadHealthRules, readHealthRules } from '../../catalog/health/read-health-rules.ts';

/** Plain data, so that it can cross to the ingest thread. */
export interface HealthDocument {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly text: string;
  readonly source: DeclaredHealth['source'];
}

/** Reads the documents. A wrong rule costs that rule only. */
export function declaredHealthRules(documents: readonly HealthDocument[]): readonly ReadHealthRules[] {
  return documents.map((document) => {
    const { rules, problems } = readDocument(document);
    return { rules, problems: problems.map((problem) => `${document.file}: ${problem}`) };
  });
}

function readDocument({ text, source }: HealthDocument): ReadHealthRules {
  try {
    // `npm run health-rules` has checked the shipped rules.
    if (source === 'SHIPPED') return checkedHealthRules(text);
    return readHealthRules(parse(text), source);
  } catch (error) {
    return { rules: [], problems: [`the document is left out: ${messageOf(error)}`] };
  }
}
