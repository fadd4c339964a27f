/** The declarations of relations: those that Portolan ships, and the file of `--relations`. */
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { messageOf, PortolanError } from '../base/errors.ts';
import { readSmallFile } from '../base/read-small-file.ts';
import type { Config } from '../config/options.ts';
import type { RelationDocument, RelationTexts } from '../ingest/context/declared-relations.ts';

const shipped = new URL('../../schema/relations.yaml', import.meta.url);

/** @throws PortolanError CONFIGURATION if the file cannot be read, or is not YAML. A wrong declaration in it costs that relation only. */
export function relationTexts({
  relations: file,
  relationAnnotations: annotations,
  inferRelations: infer,
}: Pick<Config, 'relations' | 'relationAnnotations' | 'inferRelations'>): RelationTexts {
  const documents: RelationDocument[] = [
    { file: 'relations.yaml', text: readFileSync(shipped, 'utf8'), origin: 'SHIPPED' },
  ];
  if (file !== undefined) documents.push({ file, text: textOf(file), origin: 'CONFIGURED' });
  return { documents, annotations, infer };
}

/** The configuration as it holds for the demo world, whose definitions declare relations. */
export function demoConfig(config: Config): Config {
  return { ...config, relationAnnotations: true };
}

function textOf(file: string): string {
  try {
    const text = readSmallFile(file).toString('utf8');
    parse(text);
    return text;
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `--relations ${file}: ${messageOf(error)}`, { cause: error });
  }
}
