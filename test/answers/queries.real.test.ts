/**
 * The same filters answered by the gateway and worked out from what `kubectl get -o json` prints, for every kind that has objects on a
 * real control plane. The filters are made from the leaves that occur in those objects, and evaluated here in a few lines that share
 * nothing with the gateway's own evaluator: docs/values.md is what both follow.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { messageOf } from '../../src/base/errors.ts';
import { must } from '../../src/base/must.ts';
import { type ControlPlane, startControlPlane } from '../kit/control-plane.ts';
import { eventually } from '../kit/eventually.ts';
import { type RunningGateway, runGateway } from '../kit/gateway.ts';
import { data } from '../kit/graphql-client.ts';
import * as manifests from '../kit/manifests.ts';
import { describeOn, mainServer } from '../kit/real-servers.ts';
import { selectableCrd, variety } from '../kit/varied-objects.ts';

type Json = Readonly<Record<string, unknown>>;

interface Kind {
  readonly key: string;
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly type: string;
  readonly list: string;
  readonly fields: readonly { readonly path: string; readonly type: string }[];
}

interface KubeObject {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
}

/** A filter as the gateway takes it, and the objects it means. */
interface Question {
  readonly filter: Json;
  holds(object: KubeObject): boolean;
}

/** One step of a path: a field, and whether it is a list that the path goes through. */
interface Step {
  readonly name: string;
  readonly list: boolean;
}

type Quantifier = 'some' | 'none' | 'every';

/** What the filters leave out: what is the same in all objects of a kind, and what may never be stored. */
const redacted = /^(apiVersion$|kind$|metadata\.managedFields|data|stringData)\b/;
/** Steps that are written in GraphQL as they are in JSON. */
const plainPath = /^(?!.*\bid\b)[A-Za-z][A-Za-z0-9]*(\[\])?(\.[A-Za-z][A-Za-z0-9]*(\[\])?)*$/;

describeOn([mainServer], 'filters over a real cluster', { timeout: 240_000 }, () => {
  let plane: ControlPlane;
  let gateway: RunningGateway;

  beforeAll(async () => {
    plane = await startControlPlane({ controllerManager: true });
    const texts = [manifests.namespace('queries'), ...variety('queries')].map((object) => JSON.stringify(object));
    await plane.kubectl(['create', '-f', '-'], texts.join('\n'));
    await plane.kubectl(['create', '-f', '-'], JSON.stringify(manifests.widgetCrd()));
    await plane.kubectl(['wait', '--for=condition=Established', 'crd/widgets.e2e.portolan.example']);
    await eventually(() => plane.kubectl(['create', '-f', '-'], manifests.widget('queries')));
    // What is asked is right however slow the machine is.
    gateway = await runGateway({ kubeconfig: plane.kubeconfigPath }, { leaseMs: '10000' });
  }, 120_000);
  afterAll(async () => {
    await gateway?.close();
    await plane?.stop();
  });

  async function objectsOf({ plural, version, group }: Kind): Promise<readonly KubeObject[]> {
    const name = group === '' ? plural : `${plural}.${version}.${group}`;
    const text = await plane.kubectl(['get', name, '--all-namespaces', '-o', 'json']);
    return (JSON.parse(text) as { items: readonly KubeObject[] }).items;
  }

  async function inputOf({ type }: Kind): Promise<{ inputFields: readonly { name: string }[] }> {
    const document = 'query ($name: String!) { type: __type(name: $name) { inputFields { name } } }';
    return (
      await data<{ type: { inputFields: readonly { name: string }[] } }>(gateway.url, document, {
        name: `${type}Filter`,
      })
    ).type;
  }

  /** The objects that match, by the gateway, as `namespace/name`; one list for each filter, several in one operation. */
  async function answered(kind: Kind, filters: readonly Json[]): Promise<readonly string[][]> {
    const names = filters.map((_, index) => index);
    const document = `query (${names.map((n) => `$f${n}: ${kind.type}Filter`).join(', ')}) {
      ${names.map((n) => `l${n}: ${kind.list}(first: 500, filter: $f${n}) { totalCount nodes { metadata { namespace name } } }`).join('\n')}
    }`;
    const variables = Object.fromEntries(filters.map((filter, index) => [`f${index}`, filter]));
    const lists = await data<Record<string, { totalCount: number; nodes: readonly KubeObject[] }>>(
      gateway.url,
      document,
      variables,
    );
    return names.map((n) => {
      const list = must(lists[`l${n}`], 'an answer for each filter');
      expect(list.nodes).toHaveLength(list.totalCount);
      return list.nodes.map(identity).sort();
    });
  }

  test('field selectors of a custom resource have the answers of kubectl', async () => {
    const name = 'gizmos.e2e.portolan.example';
    await plane.kubectl(['create', '-f', '-'], JSON.stringify(selectableCrd()));
    await plane.kubectl(['wait', '--for=condition=Established', `crd/${name}`]);
    const specs: readonly Json[] = [
      { n: 0, flag: false, text: '' },
      { n: 5, flag: true, text: 'a' },
      { n: -1, text: 'a,b' },
      { flag: false },
      {},
    ];
    const gizmos = specs.map((spec, index) => ({
      apiVersion: 'e2e.portolan.example/v1',
      kind: 'Gizmo',
      metadata: { namespace: 'queries', name: `g${index}` },
      spec,
    }));
    await eventually(() => plane.kubectl(['create', '-f', '-'], gizmos.map((each) => JSON.stringify(each)).join('\n')));
    const list = 'e2ePortolanExampleGizmos';
    const names = async (selector: string): Promise<string> => {
      const document = `query ($s: String) { ${list}(filter: { fieldSelector: $s }) { nodes { metadata { name } } } }`;
      const found = await data<Record<string, { nodes: readonly KubeObject[] }>>(gateway.url, document, {
        s: selector,
      });
      return must(found[list], 'the list')
        .nodes.map(({ metadata }) => metadata.name)
        .sort()
        .join(' ');
    };
    await eventually(async () => expect(await names('')).toBe('g0 g1 g2 g3 g4'));
    const selectors = [
      ['spec.n=0', 'spec.n=', 'spec.n!=0', 'spec.n=5', 'spec.n=-1', 'spec.n=05', 'spec.n=x'],
      ['spec.flag=false', 'spec.flag=true', 'spec.flag=', 'spec.flag!=false'],
      ['spec.text=', 'spec.text=a', 'spec.text=a\\,b', 'spec.n=0,spec.flag=false', 'metadata.name=g3'],
    ].flat();
    const differing: string[] = [];
    for (const selector of selectors) {
      const printed = await plane.kubectl(['get', name, '-n', 'queries', '--field-selector', selector, '-o', 'name']);
      const expected = printed
        .split('\n')
        .map((line) => line.slice(line.indexOf('/') + 1))
        .filter((line) => line !== '')
        .sort()
        .join(' ');
      const found = await names(selector);
      if (found !== expected) differing.push(`${selector}: kubectl has ${expected}, the gateway ${found}`);
    }
    expect(differing).toEqual([]);
  });

  test('agree with kubectl on every kind that has objects', async () => {
    const { resources } = await data<{ resources: readonly (Kind & { readonly type: string | null })[] }>(
      gateway.url,
      '{ resources { key group version plural namespaced type list fields { path type } } }',
    );
    const told: string[] = [];
    const wrong: string[] = [];
    for (const kind of resources) {
      let asked = 0;
      const { inputFields } = await inputOf(kind);
      const inputs = new Set(inputFields.map(({ name }) => name));
      const agree = eventually(async () => {
        const objects = await objectsOf(kind);
        if (objects.length === 0) return;
        const questions = questionsAbout(kind, inputs, objects);
        asked = questions.length;
        for (let at = 0; at < questions.length; at += 12) {
          const some = questions.slice(at, at + 12);
          const answers = await answered(
            kind,
            some.map(({ filter }) => filter),
          );
          some.forEach((question, index) => {
            const expected = objects.filter((object) => question.holds(object)).map(identity);
            expect(answers[index], `${kind.key}: ${JSON.stringify(question.filter)}`).toEqual(expected.sort());
          });
        }
      }, 3000);
      await agree.catch((error: unknown) => wrong.push(messageOf(error).slice(0, 2000)));
      if (asked > 0) told.push(`${kind.key} ${asked}`);
    }
    process.stdout.write(`${told.length} kinds, filters asked: ${told.join(', ')}\n`);
    expect(wrong).toEqual([]);
    expect(told.length).toBeGreaterThan(20);
  });
});

function identity({ metadata: { namespace, name } }: KubeObject): string {
  return `${namespace ?? ''}/${name}`;
}

function questionsAbout(kind: Kind, inputs: ReadonlySet<string>, objects: readonly KubeObject[]): readonly Question[] {
  const questions = kind.fields
    .filter(({ path }) => plainPath.test(path) && !redacted.test(path))
    .flatMap(({ path, type }) => questionsAt(stepsOf(path), type, objects))
    .map(({ filter, ...rest }) => ({ filter: written(filter, inputs), ...rest }));
  const first = must(objects[0], 'a kind with objects');
  const { namespace } = first.metadata;
  if (namespace !== undefined) {
    questions.push({
      filter: { namespaces: [namespace] },
      holds: (object) => object.metadata.namespace === namespace,
    });
  }
  const labelled = objects.find(({ metadata }) => Object.keys(metadata.labels ?? {}).length > 0);
  const [label] = Object.entries(labelled?.metadata.labels ?? {});
  if (label !== undefined) {
    const [key, value] = label;
    const of = ({ metadata }: KubeObject): string | undefined => metadata.labels?.[key];
    questions.push(
      { filter: { labelSelector: `${key}=${value}` }, holds: (object) => of(object) === value },
      { filter: { labelSelector: `${key}!=${value}` }, holds: (object) => of(object) !== value },
      { filter: { labelSelector: `!${key}` }, holds: (object) => of(object) === undefined },
      {
        filter: { labelSelector: `${key} in (${value}, none)`, metadata: { labels: [{ key, exists: true }] } },
        holds: (object) => of(object) === value,
      },
    );
  }
  const [one, other] = questions.filter(({ filter }) => 'metadata' in filter || 'spec' in filter).slice(-2);
  if (one !== undefined && other !== undefined) {
    questions.push(
      { filter: { and: [one.filter, other.filter] }, holds: (o) => one.holds(o) && other.holds(o) },
      { filter: { or: [one.filter, { not: other.filter }] }, holds: (o) => one.holds(o) || !other.holds(o) },
    );
  }
  return questions;
}

/** The filter with its top field as the input has it: `value` is `value_` where another `value` was there first. */
function written(filter: Json, inputs: ReadonlySet<string>): Json {
  return Object.fromEntries(Object.entries(filter).map(([name, of]) => [inputs.has(name) ? name : `${name}_`, of]));
}

/** Filters at one leaf: as it stands, and, through lists, with each quantifier of the innermost one. */
function questionsAt(steps: readonly Step[], type: string, objects: readonly KubeObject[]): Question[] {
  const values = objects.flatMap((object) => valuesAt(object, steps));
  if (values.length === 0) return [];
  const quantifiers: readonly Quantifier[] = steps.some(({ list }) => list) ? ['some', 'none', 'every'] : ['some'];
  const isVersion = steps.map(({ name }) => name).join('.') === 'metadata.resourceVersion';
  return testsOf(isVersion ? 'ResourceVersion' : type, values).flatMap(([operators, test]) =>
    quantifiers.map((quantifier) => ({
      filter: nested(steps, quantifier, operators),
      holds: (object: KubeObject) => holds(object, steps, quantifier, test),
    })),
  );
}

function stepsOf(path: string): readonly Step[] {
  return path.split('.').map((part) => ({ name: part.replace('[]', ''), list: part.endsWith('[]') }));
}

/** What is at the end of a path, through all lists; without nulls. */
function valuesAt(value: unknown, [step, ...rest]: readonly Step[]): unknown[] {
  if (value === undefined || value === null) return [];
  if (step === undefined) return [value];
  const inner = (value as Json)[step.name];
  if (!step.list) return valuesAt(inner, rest);
  return Array.isArray(inner) ? inner.flatMap((item) => valuesAt(item, rest)) : [];
}

/** The steps as an input object; all lists but the innermost are asked with `some`. */
function nested(steps: readonly Step[], quantifier: Quantifier, operators: Json): Json {
  const innermost = steps.findLastIndex(({ list }) => list);
  return steps.reduceRight<Json>((inner, { name, list }, index) => {
    if (!list) return { [name]: inner };
    return { [name]: { [index === innermost ? quantifier : 'some']: inner } };
  }, operators);
}

function holds(
  value: unknown,
  steps: readonly Step[],
  quantifier: Quantifier,
  test: (value: unknown) => boolean,
): boolean {
  const [step, ...rest] = steps;
  if (step === undefined) return test(value ?? undefined);
  const inner = (value as Json | null | undefined)?.[step.name];
  if (!step.list) return holds(inner, rest, quantifier, test);
  const items: readonly unknown[] = Array.isArray(inner) ? inner : [];
  const each = (item: unknown): boolean => holds(item, rest, quantifier, test);
  if (rest.some(({ list }) => list) || quantifier === 'some') return items.some(each);
  return quantifier === 'none' ? !items.some(each) : items.every(each);
}

type LeafTest = readonly [operators: Json, test: (value: unknown) => boolean];

/** Operators on values that occur, and what they mean. */
function testsOf(type: string, values: readonly unknown[]): readonly LeafTest[] {
  const exists: readonly LeafTest[] = [
    [{ exists: true }, (value) => value !== undefined],
    [{ exists: false }, (value) => value === undefined],
  ];
  const order = orders[type];
  const sorted = order === undefined ? [] : [...new Set(values.filter((value) => order(value) !== undefined))];
  if (order === undefined || sorted.length === 0) return type in orders || unordered.has(type) ? exists : [];
  sorted.sort((a, b) => compared(order(a), order(b)) ?? 0);
  const middle = sorted[Math.floor(sorted.length / 2)];
  const least = sorted[0];
  const against = (value: unknown, other: unknown): number | undefined => compared(order(value), order(other));
  const same: readonly LeafTest[] = [
    [{ eq: middle }, (value) => against(value, middle) === 0],
    [{ ne: middle }, (value) => against(value, middle) !== 0],
  ];
  if (type === 'Boolean') return [...exists, ...same];
  const among = (value: unknown): boolean => against(value, middle) === 0 || against(value, least) === 0;
  const ordered: readonly LeafTest[] = [
    ...exists,
    ...same,
    [{ in: [middle, least] }, among],
    [{ notIn: [middle, least] }, (value) => !among(value)],
    [{ lt: middle }, (value) => (against(value, middle) ?? 0) < 0],
    [{ lte: middle }, (value) => (against(value, middle) ?? 1) <= 0],
    [{ gt: middle }, (value) => (against(value, middle) ?? 0) > 0],
    [{ gte: least }, (value) => (against(value, least) ?? -1) >= 0],
  ];
  if (type !== 'String' || typeof middle !== 'string') return ordered;
  const [head, tail] = [middle.slice(0, 3), middle.slice(-2)];
  const text = (test: (value: string) => boolean) => (value: unknown) => typeof value === 'string' && test(value);
  return [
    ...ordered,
    [{ startsWith: head }, text((value) => value.startsWith(head))],
    [{ endsWith: tail }, text((value) => value.endsWith(tail))],
    [{ contains: head }, text((value) => value.includes(head))],
    [
      { contains: head.toUpperCase(), ignoreCase: true },
      text((value) => value.toLowerCase().includes(head.toLowerCase())),
    ],
  ];
}

/** Scalars whose order is not worked out here: only whether there is one. */
const unordered = new Set(['IntOrString', 'IP', 'Duration']);

type Key = number | bigint | Buffer | undefined;

/** A value as something that can be ordered; undefined for what is no value of the type. */
const orders: Readonly<Record<string, (value: unknown) => Key>> = {
  String: (value) => (typeof value === 'string' ? Buffer.from(value) : undefined),
  /** Whole numbers (KEP-5504). */
  ResourceVersion: (value) => (typeof value === 'string' ? BigInt(value) : undefined),
  Boolean: (value) => (typeof value === 'boolean' ? Number(value) : undefined),
  Int: (value) => (Number.isInteger(value) ? Number(value) : undefined),
  Int64: (value) => (Number.isSafeInteger(value) ? BigInt(Number(value)) : undefined),
  Float: (value) => (typeof value === 'number' ? value : undefined),
  DateTime: (value) => (typeof value === 'string' ? Date.parse(value) : undefined),
  Quantity: (value) => (typeof value === 'string' || typeof value === 'number' ? quantity(String(value)) : undefined),
};

function compared(a: Key, b: Key): number | undefined {
  if (a === undefined || b === undefined) return undefined;
  if (Buffer.isBuffer(a) && Buffer.isBuffer(b)) return Buffer.compare(a, b);
  return a < b ? -1 : a > b ? 1 : 0;
}

const suffixes: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 10n ** 3n,
  m: 10n ** 6n,
  '': 10n ** 9n,
  k: 10n ** 12n,
  M: 10n ** 15n,
  G: 10n ** 18n,
  Ki: 10n ** 9n * 2n ** 10n,
  Mi: 10n ** 9n * 2n ** 20n,
  Gi: 10n ** 9n * 2n ** 30n,
};

/** A quantity in billionths. */
function quantity(text: string): bigint | undefined {
  const [, whole = '', fraction = '', suffix = ''] = /^([0-9]+)(?:\.([0-9]+))?([a-zA-Z]*)$/.exec(text) ?? [];
  const unit = suffixes[suffix];
  if (whole === '' || unit === undefined) return undefined;
  return (BigInt(whole + fraction) * unit) / 10n ** BigInt(fraction.length);
}
