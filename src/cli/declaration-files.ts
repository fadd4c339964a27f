/** Files with declarations: the files that Portolan ships, and the files of `--relations`, `--health-rules` and `--abstract-kinds`. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { messageOf, PortolanError } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { readSmallFile } from '../base/read-small-file.ts';
import { ReloadedFiles } from '../base/reloaded-files.ts';
import type { ReadAbstractKinds } from '../catalog/abstract/read-abstract-kinds.ts';
import type { Config } from '../config/options.ts';
import { type AbstractKindsDocument, declaredAbstractKinds } from '../ingest/context/declared-abstract-kinds.ts';
import type { HealthDocument } from '../ingest/context/declared-health-rules.ts';
import type { RelationDocument, RelationTexts } from '../ingest/context/declared-relations.ts';

/** Milliseconds between two looks at a file that may change. */
const lookMs = 5000;
const shippedFile = (name: string): URL => new URL(`../../schema/${name}`, import.meta.url);
const shippedText = (name: string): string => readFileSync(shippedFile(name), 'utf8');

/** @throws PortolanError CONFIGURATION if the file cannot be read, or is not YAML. A wrong declaration in it costs that relation only. */
export function relationTexts({
  relations: file,
  relationAnnotations: annotations,
  inferRelations: infer,
}: Pick<Config, 'relations' | 'relationAnnotations' | 'inferRelations'>): RelationTexts {
  const documents: RelationDocument[] = [
    { file: 'relations.yaml', text: shippedText('relations.yaml'), origin: 'SHIPPED' },
  ];
  if (file !== undefined) documents.push({ file, text: textOf('--relations', file), origin: 'CONFIGURED' });
  return { documents, annotations, infer };
}

/**
 * The rules of the file come before the shipped ones.
 * @throws PortolanError CONFIGURATION if the file cannot be read, or is not YAML. A wrong rule in it costs that rule only.
 */
export function healthDocuments({ healthRules: file }: Pick<Config, 'healthRules'>): readonly HealthDocument[] {
  const shipped: HealthDocument = {
    file: 'health-rules.json',
    text: shippedText('generated/health-rules.json'),
    source: 'SHIPPED',
  };
  return file === undefined
    ? [shipped]
    : [{ file, text: textOf('--health-rules', file), source: 'CONFIGURED' }, shipped];
}

/** The file of `--abstract-kinds`, which is read again when it changes. */
export class AbstractKindsFile {
  readonly #file: string;
  readonly #files: ReloadedFiles<string>;
  readonly #timer: NodeJS.Timeout;

  /**
   * @param changed called with a changed document. A wrong part of it costs that part only.
   * @throws PortolanError CONFIGURATION if the file cannot be read, or is not YAML
   */
  constructor(file: string, log: Logger, changed: (document: AbstractKindsDocument) => void) {
    this.#file = file;
    this.#files = new ReloadedFiles({
      what: 'file of abstract kinds',
      files: [{ flag: '--abstract-kinds', path: file }],
      load: ([text = '']) => checked(text),
      changed: () => changed(this.document),
      log,
    });
    this.#timer = setInterval(() => void this.#files.look(), lookMs);
    this.#timer.unref();
  }

  get document(): AbstractKindsDocument {
    return { file: this.#file, text: this.#files.current };
  }

  close(): void {
    clearInterval(this.#timer);
  }
}

/** The abstract kinds of `--abstract-kinds` as the file has them now; a problem is for each part that is left out. */
export function abstractKindsOf({ abstractKinds: file }: Pick<Config, 'abstractKinds'>): ReadAbstractKinds {
  if (file === undefined) return { kinds: [], problems: [] };
  return declaredAbstractKinds({ file, text: textOf('--abstract-kinds', file) });
}

/** The configuration as it holds for the demo world: its definitions declare relations, and its app store is an abstract kind. */
export function demoConfig<T extends Pick<Config, 'abstractKinds' | 'relationAnnotations'>>(config: T): T {
  const shipped = fileURLToPath(shippedFile('demo-abstract-kinds.yaml'));
  return { ...config, relationAnnotations: true, abstractKinds: config.abstractKinds ?? shipped };
}

function textOf(flag: string, file: string): string {
  try {
    return checked(readSmallFile(file).toString('utf8'));
  } catch (error) {
    throw new PortolanError('CONFIGURATION', `${flag} ${file}: ${messageOf(error)}`, { cause: error });
  }
}

/** Most characters of a file: reading YAML takes a second for so many. */
const mostText = 512 * 1024;

/** @throws Error for a text that is no YAML, or too long */
function checked(text: string): string {
  if (text.length > mostText) throw new Error(`it has more than ${mostText} characters`);
  parse(text);
  return text;
}
