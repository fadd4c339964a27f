/**
 * Names are for ever: definitions with alike groups, Kinds and plurals come, go and come again, over restarts and beside a second replica.
 * A root field never answers for another resource than before, and every served kind has its fields.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { runSteps } from '../../src/base/steps.ts';
import { CatalogAssembler } from '../../src/catalog/assemble.ts';
import { describeResource } from '../../src/catalog/describe/describe.ts';
import type { DescribedResource } from '../../src/catalog/resources/catalog.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import type { Generation } from '../../src/graphql/generation/generation.ts';
import { DescriptionCache } from '../../src/graphql/publish/description-cache.ts';
import { GenerationBuilder } from '../../src/graphql/schema/build-generation.ts';
import { openReader, type PooledReader } from '../../src/store/read/reader.ts';
import { openWriter, type StoreWriter } from '../../src/store/write/writer.ts';
import { randomRuns } from '../kit/random-runs.ts';
import { storeFile } from '../kit/store-file.ts';

const rounds = randomRuns(500, 5000);
const roundsOfRun = 100;

const groups = [
  'kafka.example.io',
  'kafka-example.io',
  'kafkaexample.io',
  'kafka.example',
  'xn--a.io',
  '3scale.io',
  'x3scale.io',
];
const kinds = [
  ...[
    'Topic topics',
    'TOPIC topics',
    'Topic topix',
    'IoTopic iotopics',
    'Topics topicses',
    'Sheep sheep',
    'SheepByName sheepbynames',
  ],
  ...[
    'FooBar foobars',
    'Foobar foobarz',
    'Foo-Bar foo-bars',
    'FooFilter foofilters',
    'Foo_Filter foofilterz',
    'Foo foos',
    'FooChange foochanges',
  ],
];

/** @param names its Kind and its plural */
function definition(group: string, names: string): DescribedResource {
  const [kind = '', plural = ''] = names.split(' ');
  const resource = {
    ...{ group, version: 'v1', plural, singular: kind.toLowerCase(), kind, namespaced: true },
    ...{ verbs: ['list', 'watch'], shortNames: [], categories: [] },
  };
  const spec = { type: 'object', properties: { size: { type: 'integer' } } };
  const properties = { metadata: { type: 'object' }, spec, filter: spec };
  const schema = { type: 'object', properties, 'x-kubernetes-group-version-kind': [{ group, version: 'v1', kind }] };
  return describeResource({ cluster: 'east', resource, schemas: { root: schema } });
}

const definitions = groups.flatMap((group) => kinds.map((text) => definition(group, text)));

/** A gateway's store and schema, without ingest. */
class Replica {
  readonly #file = storeFile();
  readonly #meanings = new Map<string, string>();
  #parts = this.#open();

  #open() {
    return {
      writer: openWriter(this.#file, { checkpoints: 'inline' }),
      reader: openReader(this.#file, { readers: 1, leaseMs: 60_000 }),
      descriptions: new DescriptionCache(),
      assembler: new CatalogAssembler(),
      builder: new GenerationBuilder(),
    } satisfies { writer: StoreWriter; reader: PooledReader } & Record<string, unknown>;
  }

  async restart(): Promise<void> {
    await this.close();
    this.#parts = this.#open();
  }

  async close(): Promise<void> {
    await this.#parts.reader.close();
    this.#parts.writer.close();
  }

  declare(described: DescribedResource): void {
    this.#parts.writer.openCluster('east', 'uid-east');
    this.#parts.writer.declare(described);
  }

  async drop(described: DescribedResource): Promise<void> {
    const { writer } = this.#parts;
    const state = writer.states('east').find(({ handle }) => handle.key === resourceKey(described.resource));
    if (state !== undefined) await writer.drop(state.handle);
  }

  /** Looks at the schema. @returns the resource of each root field */
  async look(served: readonly DescribedResource[]): Promise<ReadonlyMap<string, string>> {
    const { reader, descriptions, assembler, builder } = this.#parts;
    const { described, came } = await descriptions.read([reader], { clock: systemClock });
    const generation = runSteps(builder.build(runSteps(assembler.assemble(described, came))));
    const found = rootFields(generation);
    for (const [field, key] of found) {
      expect([field, this.#meanings.get(field) ?? key]).toEqual([field, key]);
      this.#meanings.set(field, key);
    }
    const wanted = served.map(({ resource }) => resourceKey(resource)).sort();
    expect(generation.all.map(({ key }) => key).sort()).toEqual(wanted);
    for (const key of wanted) {
      expect([...found.values()].filter((each) => each === key)).toHaveLength(3);
      expect(generation.kinds([key]).map((kind) => kind.key)).toEqual([key]);
    }
    return found;
  }
}

function rootFields({ all, schema }: Generation): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { key, names } of all) {
    for (const [root, field] of [
      [schema.getQueryType(), names.list],
      [schema.getQueryType(), names.one],
      [schema.getSubscriptionType(), names.subscription],
    ] as const) {
      expect(root?.getFields()[field], `${field} of ${key}`).toBeDefined();
      found.set(`${root?.name} ${field}`, key);
    }
  }
  return found;
}

const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ does: fc.constant('come or go' as const), at: fc.nat(definitions.length - 1) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ does: fc.constantFrom('restart' as const, 'replicate' as const), at: fc.nat() }),
  },
);

test(`${rounds} rounds: no root field ever stands for another resource`, { timeout: 600_000 }, async () => {
  const done = { came: 0, went: 0, restarts: 0, replicas: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: roundsOfRun, maxLength: roundsOfRun }), async (steps) => {
      const first = new Replica();
      let second: Replica | null = null;
      /** In the order of their creation, as the API server tells it. */
      const served: DescribedResource[] = [];
      let anyWent = false;
      try {
        for (const { does, at } of steps) {
          if (does === 'restart') {
            done.restarts += 1;
            await first.restart();
          } else if (does === 'replicate') {
            done.replicas += 1;
            await second?.close();
            second = new Replica();
            for (const each of served) second.declare(each);
          } else {
            const one = definitions[at % definitions.length] as DescribedResource;
            // An API server has a plural once in a group, and a Kind once.
            const conflicts = served.findIndex(
              ({ resource: { group, plural, kind } }) =>
                group === one.resource.group && (plural === one.resource.plural || kind === one.resource.kind),
            );
            if (conflicts === -1) {
              done.came += 1;
              served.push(one);
              for (const replica of [first, second]) replica?.declare(one);
            } else {
              done.went += 1;
              anyWent = true;
              for (const gone of served.splice(conflicts, 1))
                for (const replica of [first, second]) await replica?.drop(gone);
            }
          }
          const names = await first.look(served);
          const others = await second?.look(served);
          // Without a definition that went, the order of creation is the order in which the first replica has seen them.
          if (others !== undefined && !anyWent) expect(others).toEqual(names);
        }
      } finally {
        await first.close();
        await second?.close();
      }
    }),
    { numRuns: rounds / roundsOfRun },
  );
  expect(Math.min(...Object.values(done))).toBeGreaterThan(0);
});
