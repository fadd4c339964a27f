/**
 * The YAML text of an object. It is made once for an object of the answer. Making it takes many times as long as JSON, so it counts several
 * times against the bound of the answer.
 */
import { stringify } from 'yaml';
import { kubernetesYaml } from '../../base/text/kubernetes-yaml.ts';
import { mostYamlLevels, requireShallow } from '../../catalog/tree/nesting.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import { isRawJson, rawJsonText } from '../../catalog/values/raw-json.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import type { OperationContext } from '../generation/generation.ts';
import { countCharacters } from '../selection/answer-size.ts';

/** How often the characters of an object count when its text is made. */
const making = 8;

const texts = new WeakMap<ObjectSource, Yaml>();

type Yaml = string | null | Promise<string | null>;

/** Null after the bound of the answer. @throws PortolanError QUERY_TOO_COSTLY for a deep object, and at the bound */
export function yamlOf(source: ObjectSource, context: OperationContext): Yaml {
  const known = texts.get(source);
  if (known !== undefined) return known;
  const made = make(source, context);
  texts.set(source, made);
  return made;
}

function make(source: ObjectSource, context: OperationContext): Yaml {
  const whole = source.whole();
  requireShallow(whole, mostYamlLevels);
  if (!countCharacters(context, making, whole)) return null;
  return source.operation.inTurn(() => stringify(plain(whole), kubernetesYaml));
}

/** Exact integers become bigint, which the YAML library can write. */
function plain(value: unknown): unknown {
  if (isRawJson(value)) return BigInt(rawJsonText(value));
  if (Array.isArray(value)) return value.map(plain);
  const record = recordOf(value);
  return record === null
    ? value
    : Object.fromEntries(Object.entries(record).map(([name, item]) => [name, plain(item)]));
}
