/** The relations that Portolan ships, as an option of ingest. */
import { relationTexts } from '../../src/cli/declaration-files.ts';
import type { RelationTexts } from '../../src/ingest/context/declared-relations.ts';

export function shippedRelations(): RelationTexts {
  return relationTexts({ relations: undefined, relationAnnotations: false, inferRelations: false });
}
