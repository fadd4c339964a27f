/**
 * The text of a kubeconfig as kubectl reads it: the first YAML document, by the words of YAML 1.1 (`yes` is true). Of a key that is there
 * twice, the last one counts. A text without a document is a configuration without entries.
 *
 *   %YAML 1.1               the only version
 *   token: !!binary YWJj    abc
 *   token: 12e999           text, because no number is so great (yaml-scalar.ts)
 */
import { type Document, isAlias, isScalar, parseAllDocuments, visit } from 'yaml';
import { record } from '../../base/json.ts';
import { type YamlScalar, yamlKey, yamlScalar } from '../../base/text/yaml-scalar.ts';

/** Each scalar is its text: readScalars reads it. */
const options = { version: '1.1', schema: 'failsafe', merge: true, uniqueKeys: false, logLevel: 'silent' } as const;

/** The members of the file. @throws Error that says where the text is no YAML. */
export function kubeconfigText(text: string): Readonly<Record<string, unknown>> {
  const [document] = parseAllDocuments(text, options);
  if (document === undefined) return {};
  const [error] = [...document.errors, ...document.warnings.filter(({ code }) => code === 'BAD_DIRECTIVE')];
  if (error !== undefined) throw error;
  checkDirectives(text);
  readScalars(document);
  const value: unknown = document.toJS();
  if (value === null || value === undefined) return {};
  const members = record(value);
  if (members === undefined) throw new Error('it is not a YAML mapping');
  return members;
}

/** Those of the first document. @throws Error for another version than 1.1, and for a directive that is there twice */
function checkDirectives(text: string): void {
  const [head = ''] = /^(?:(?:%|[ \t]*#).*\r?\n|[ \t]*\r?\n)*/.exec(text) ?? [];
  const seen = new Set<string>();
  for (const [, directive = '', version = ''] of head.matchAll(/^%(YAML|TAG[ \t]+\S+)[ \t]*(\S*)/gm)) {
    if (directive === 'YAML' && version !== '1.1') throw new Error(`the YAML version is ${version}, and should be 1.1`);
    if (seen.has(directive)) throw new Error(`the directive %${directive} is there twice`);
    seen.add(directive);
  }
}

/** @throws Error for a value or a key that JSON does not have, and for a value that does not fit its tag */
function readScalars(document: Document): void {
  visit(document, {
    Pair(_, { key }) {
      if (!isScalar(key) && !isAlias(key)) throw new Error('a key is a list or an object');
    },
    Scalar(place, node) {
      // A merge key.
      if (typeof node.value === 'symbol') return;
      const { tag, type } = node;
      const refuse = (): never => {
        throw new Error(`a value does not fit its tag ${tag?.replace('tag:yaml.org,2002:', '!!')}`);
      };
      const value = yamlScalar(String(node.value), { isPlain: type === 'PLAIN', tag, refuse });
      node.value = place === 'key' ? keyOf(value) : jsonOf(value);
    },
  });
}

function keyOf(value: YamlScalar): string {
  const key = yamlKey(value);
  if (key === null) throw new Error('a key is null or too great a number');
  return key;
}

function jsonOf(value: YamlScalar): string | boolean | null | number {
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error('JSON has no such number as .inf or .nan');
  return value;
}
