/**
 * The mutations that the command line sends by the subscription `writes`, and the shape of their answers. The end of the process cancels what
 * is not begun.
 *
 * Never: sends a mutation twice. After a lost answer, the next plan shows what is left.
 */
import { z } from 'zod';
import { type ErrorCode, errorCodes, PortolanError } from '../../base/errors.ts';
import { exactObject } from '../remote/exact-json.ts';
import type { GatewayClient } from '../remote/gateway-client.ts';
import { type Place, placeFilter } from '../remote/object-filter.ts';
import { prefixIn, prefixQuery, prefixShape } from '../remote/type-prefix.ts';
import { recordedChanges } from './recorded-changes.ts';

/** A command that writes, or a verb of sets (`--set`). */
export type WriteVerb = CommandVerb | 'applySet' | 'deleteSet';

export type CommandVerb = 'apply' | 'delete' | 'restart' | 'scale' | 'edit' | 'revert' | 'rollback';

const item = z.object({
  target: z.object({
    cluster: z.string(),
    apiVersion: z.string(),
    kind: z.string(),
    namespace: z.string().nullable(),
    name: z.string().nullable(),
    place: z.string().nullable(),
  }),
  result: z.enum(['CREATED', 'CHANGED', 'UNCHANGED', 'DELETED', 'EVICTED', 'REVERTED', 'NONE']),
  /** Numbers are raw JSON (exact-json.ts). */
  after: z.unknown(),
  changes: z.array(
    z.object({
      path: z.string(),
      before: z.unknown(),
      after: z.unknown(),
      isWithheld: z.boolean(),
      managers: z.array(z.string()),
    }),
  ),
  warnings: z.array(z.string()),
  errors: z.array(z.object({ code: z.string(), message: z.string() })),
  seen: z.boolean(),
});

const write = z.object({ planId: z.string().nullable(), complete: z.boolean(), items: z.array(item) });

export type WriteItem = z.output<typeof item>;
export type FieldChange = WriteItem['changes'][number];

export interface Written extends z.output<typeof write> {
  /** The value of the field as it came, with exact numbers. */
  readonly answer: unknown;
}

const fields = `planId token complete items {
  target { id cluster apiVersion kind resource namespace name place } result after
  changes { path before after isWithheld managers } warnings errors { code message path status } seen }`;

const idNodes = z.object({ nodes: z.array(z.object({ id: z.string() })) });

/** Milliseconds without a sign of life. */
const patience = 60_000;

/** A message; the whole outcome is in the last one. */
const progress = z.object({ writes: z.object({ done: rawCount(), total: rawCount(), write: z.unknown() }) });

/** A number that kept its digits. */
function rawCount() {
  return z.unknown().transform((count) => Number(JSON.stringify(count)));
}

const errorsShape = z.object({
  errors: z
    .array(z.object({ message: z.string(), extensions: z.looseObject({ code: z.string() }).partial().optional() }))
    .min(1),
});

export class WriteGateway {
  readonly #client: GatewayClient;
  /** The names of types begin with it (`--type-prefix`). Null until it is known. */
  #typePrefix: string | null = null;

  constructor(client: GatewayClient) {
    this.#client = client;
  }

  /** How many objects the filter finds in the tables. */
  async count(kind: string, filter: object): Promise<number> {
    const query = `query Count($kinds: [String!]!, $filter: ${await this.#prefixed('ObjectFilter')}) {
      objects(kinds: $kinds, filter: $filter) { totalCount } }`;
    const data = await this.#data(query, { kinds: [kind], filter });
    const shape = z.object({ objects: z.object({ totalCount: rawCount() }) });
    return this.#shaped(data, shape).objects.totalCount;
  }

  /** The ids of the objects of this kind and name, two at most. */
  async idsOf(kind: string, name: string, place: Place): Promise<readonly string[]> {
    const filter = { metadata: { name: { eq: name } }, ...placeFilter(place) };
    const query = `query Ids($kinds: [String!]!, $filter: ${await this.#prefixed('ObjectFilter')}) {
      objects(kinds: $kinds, filter: $filter, first: 2) { nodes { id } } }`;
    const data = await this.#data(query, { kinds: [kind], filter });
    return this.#shaped(data, z.object({ objects: idNodes })).objects.nodes.map(({ id }) => id);
  }

  /**
   * The ids of the objects of this kind and name that the history has.
   * @param cut is called where older changes were not read
   */
  async recordedIdsOf(kind: string, name: string, place: Place, cut: () => void): Promise<readonly string[]> {
    const ids = new Set<string>();
    const wanted = { since: '-3650d', kind, name, ...place };
    for await (const { id } of recordedChanges(this.#client, wanted, cut)) ids.add(id);
    return [...ids];
  }

  /** The object as YAML. @throws PortolanError NOT_FOUND */
  async yamlOf(id: string): Promise<string> {
    const data = await this.#data('query Object($id: ID!) { object(id: $id) { yaml } }', { id });
    const shape = z.object({ object: z.object({ yaml: z.string() }).nullable() });
    const { object } = this.#shaped(data, shape);
    if (object !== null) return object.yaml;
    throw new PortolanError('NOT_FOUND', 'There is no such object, or you may not get it.');
  }

  /**
   * @param options with `dryRun` or `plan`
   * @param told is called for each object that is done
   * @throws PortolanError with the words of the gateway.
   */
  async write(
    verb: WriteVerb,
    args: Readonly<Record<string, unknown>>,
    options: object,
    told: (done: number, total: number) => void,
  ): Promise<Written> {
    const [input, optionsInput] = [await this.#prefixed('MutationInput!'), await this.#prefixed('WriteOptions!')];
    const query = `subscription Portolan($mutation: ${input}, $options: ${optionsInput}) {
      writes(mutation: $mutation, options: $options) { done total write { ${fields} } } }`;
    const body = JSON.stringify({ query, variables: { mutation: { [verb]: args }, options } });
    for await (const text of this.#client.events(body, patience)) {
      const { writes } = this.#shaped(this.#dataOf(text), progress);
      if (writes.write !== null) return { ...this.#shaped(writes.write, write), answer: writes.write };
      told(writes.done, writes.total);
    }
    throw this.#client.notPortolan('');
  }

  /** The type as this gateway names it: `WriteOptions!` -> `K8s_WriteOptions!`. */
  async #prefixed(type: string): Promise<string> {
    this.#typePrefix ??= await this.#askPrefix();
    return `${this.#typePrefix}${type}`;
  }

  async #askPrefix(): Promise<string> {
    return prefixIn(this.#shaped(await this.#data(prefixQuery, {}), prefixShape));
  }

  async #data(query: string, variables: object): Promise<object> {
    return this.#dataOf(await this.#client.post(JSON.stringify({ query, variables })));
  }

  /** The data of an answer. */
  #dataOf(text: string): object {
    const answer = exactObject(text);
    const failed = errorsShape.safeParse(answer);
    if (failed.success) {
      const { errors } = failed.data;
      const code = errors[0]?.extensions?.code ?? '';
      if (code === 'REQUEST_ENTITY_TOO_LARGE') {
        const message = 'The manifests are more than the gateway reads in one request: send the files in parts.';
        throw new PortolanError('BAD_USER_INPUT', message);
      }
      const message = errors.map((error) => error.message).join(' ');
      throw new PortolanError(code in errorCodes ? (code as ErrorCode) : 'UPSTREAM_UNAVAILABLE', message);
    }
    const { data } = (answer ?? {}) as { readonly data?: unknown };
    if (typeof data !== 'object' || data === null) throw this.#client.notPortolan(text);
    return data;
  }

  #shaped<T>(value: unknown, shape: z.ZodType<T>): T {
    const found = shape.safeParse(value);
    if (found.success) return found.data;
    throw this.#client.notPortolan('');
  }
}
