/** The declared relations of the ingest thread, from texts that its parent has read. */
import { parse } from 'yaml';
import { messageOf } from '../../base/errors.ts';
import { RelationSet } from '../../catalog/describe/relation-set.ts';
import { type ReadRelations, readRelations } from '../../catalog/relations/read-relations.ts';
import type { RelationOrigin } from '../../catalog/relations/relation.ts';

/** Plain data, so that it can cross to the ingest thread. */
export interface RelationTexts {
  /** YAML documents with declarations. */
  readonly documents: readonly RelationDocument[];
  /** Whether annotations of CustomResourceDefinitions declare relations. */
  readonly annotations: boolean;
  /** Whether relations of custom resources are inferred from their schemas. */
  readonly infer: boolean;
}

export interface RelationDocument {
  /** The name of the file, for messages. */
  readonly file: string;
  readonly text: string;
  readonly origin: Extract<RelationOrigin, 'SHIPPED' | 'CONFIGURED'>;
}

interface DeclaredRelations {
  readonly set: RelationSet;
  /** Declarations that cannot be used, and of which no kind can be told. */
  readonly problems: readonly string[];
}

/** Reads the documents. A wrong declaration affects its own relation only. */
export function declaredRelations({ documents, annotations, infer }: RelationTexts): DeclaredRelations {
  const read = documents.map((document) => ({ file: document.file, ...readDocument(document) }));
  const problems = read.flatMap(({ file, problems: found }) =>
    found.flatMap(({ source, declaration, message }) =>
      source === null ? [`${file}: ${declaration}: ${message}`] : [],
    ),
  );
  return { set: new RelationSet(read, { annotations, infer }), problems };
}

function readDocument({ text, origin }: RelationDocument): ReadRelations {
  try {
    return readRelations(parse(text), origin);
  } catch (error) {
    const problem = { source: null, declaration: 'the document', message: messageOf(error) };
    return { relations: [], problems: [problem], off: [] };
  }
}
