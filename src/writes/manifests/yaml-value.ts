/**
 * The JSON value of a composed YAML document: merge keys, scalars and keys as kubectl reads them.
 *
 *   base: &b {a: 1, b: 2}      {"base": {"a": 1, "b": 2},
 *   x: {a: 3, <<: *b}           "x": {"a": 1, "b": 2},        a merge key replaces what stands before it, as in go-yaml v2
 *   y: {<<: *b, a: 3}           "y": {"a": 3, "b": 2},
 *   2: [*b]                     "2": [{"a": 1, "b": 2}]}
 *
 * Every alias gives a new copy. yaml-aliases.ts has measured the copies before, so the walk here is bounded.
 * Refused: keys that are twice in an object, as text; lists and objects as keys; the key `__proto__`.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type YamlScalar, yamlKey, yamlScalar } from '../../base/text/yaml-scalar.ts';
import { blockWithSpacesAtEnd } from './block-end.ts';
import { exactInteger } from './exact-number.ts';
import type { ManifestBudget } from './manifest-bounds.ts';
import type { ManifestText } from './manifest-text.ts';
import { ObjectKeys } from './object-keys.ts';
import { aliasTargets } from './yaml-aliases.ts';

type JsonObject = Record<string, unknown>;

/**
 * @param start the offset of the document in the text
 * @throws PortolanError BAD_USER_INPUT
 */
export function yamlValue(
  root: ParsedNode | null,
  source: ManifestText,
  start: number,
  budget: ManifestBudget,
): unknown {
  return new ValueReader(source, start, aliasTargets(root, source, start, budget)).value(root);
}

class ValueReader {
  readonly #source: ManifestText;
  readonly #start: number;
  readonly #targets: ReadonlyMap<Alias, ParsedNode>;

  constructor(source: ManifestText, start: number, targets: ReadonlyMap<Alias, ParsedNode>) {
    this.#source = source;
    this.#start = start;
    this.#targets = targets;
  }

  value(given: ParsedNode | null): unknown {
    const node = this.#target(given);
    if (node === null) return null;
    if (isSeq(node)) return (node as YAMLSeq.Parsed).items.map((item) => this.value(item));
    if (!isMap(node)) return this.#json(node);
    const made: JsonObject = {};
    this.#fill(made, node as YAMLMap.Parsed);
    return made;
  }

  #fill(into: JsonObject, { items }: YAMLMap.Parsed): void {
    const keys = new ObjectKeys(this.#source);
    for (const { key, value } of items) {
      if (isMergeKey(key)) {
        this.#merge(into, value ?? null, key);
        continue;
      }
      const name = this.#key(key);
      keys.add(name, this.#offset(key));
      into[name] = this.value(value ?? null);
    }
  }

  #merge(into: JsonObject, given: ParsedNode | null, key: ParsedNode): void {
    // The first of a list wins, so it is written last.
    for (const each of isSeq(given) ? (given as YAMLSeq.Parsed).items.toReversed() : [given]) {
      const node = this.#target(each);
      if (!isMap(node)) this.#refuse(key, 'The merge key << has no object', 'Give it aliases of objects.');
      this.#fill(into, node as YAMLMap.Parsed);
    }
  }

  /** The node that an alias stands for, and every other node itself. */
  #target(node: ParsedNode | null): ParsedNode | null {
    return isAlias(node) ? (this.#targets.get(node) ?? null) : node;
  }

  #json(node: ParsedNode): unknown {
    const scalar = this.#scalar(node);
    if (typeof scalar === 'bigint') return exactInteger(scalar);
    if (typeof scalar === 'number' && !Number.isFinite(scalar))
      this.#refuse(node, 'JSON has no such number', 'Write a finite number, or text in quotes.');
    return scalar;
  }

  #key(given: ParsedNode): string {
    const node = this.#target(given);
    if (!isScalar(node)) this.#refuse(given, 'A key is a list or an object', 'Use text as the key.');
    return (
      yamlKey(this.#scalar(node)) ??
      this.#refuse(given, 'A key is null or too great a number', 'Put the key in quotes.')
    );
  }

  #scalar(node: ParsedNode): YamlScalar {
    if (!isScalar(node)) return null;
    const { tag } = node;
    return yamlScalar(this.#text(node), {
      isPlain: node.type === 'PLAIN',
      tag,
      refuse: () =>
        this.#refuse(node, `The value does not fit the tag ${tag}`, 'Remove the tag, or correct the value.'),
    });
  }

  #text(node: Scalar.Parsed): string {
    const { srcToken, value } = node;
    const block =
      srcToken?.type === 'block-scalar'
        ? blockWithSpacesAtEnd(srcToken, this.#source.blanks(this.#start + node.range[1]))
        : undefined;
    if (block === null)
      this.#refuse(node, 'A folded text ends with a line of too many spaces', 'Remove the spaces in its last lines.');
    return block ?? String(value);
  }

  #offset(node: ParsedNode): number {
    return this.#start + node.range[0];
  }

  #refuse(node: ParsedNode, problem: string, remedy: string): never {
    throw this.#source.error(this.#offset(node), problem, remedy);
  }
}

function isMergeKey(node: ParsedNode): boolean {
  if (!isScalar(node) || node.value !== '<<') return false;
  return node.tag === undefined ? node.type === 'PLAIN' : node.tag === 'tag:yaml.org,2002:merge';
}
