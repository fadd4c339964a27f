/** docs/writes.md: its mutations run on the demo world, in their order, and its tables have every result and every code. */
import { createClient } from 'graphql-sse';
import { describe, expect, test } from 'vitest';
import { writeErrorCodes } from '../../src/writes/outcome/write-error.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { eventually } from '../kit/eventually.ts';
import { type Answer, ask } from '../kit/graphql-client.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const page = readPage('docs/writes.md');

interface Progress {
  readonly done: number;
  readonly write: { readonly planId: string | null } | null;
}

interface Kind {
  readonly kind: string;
}

/** An object of the plan of a deletion. */
interface Related {
  readonly usedBy?: { readonly edges: readonly { readonly node: Kind }[] };
  readonly owned?: { readonly nodes: readonly Kind[] };
}

interface Write {
  readonly planId?: string | null;
  readonly items: readonly {
    readonly result: string;
    readonly errors: readonly unknown[];
    readonly object?: Related | null;
  }[];
}

const kindsOf = ({ usedBy, owned }: Related) => ({
  usedBy: new Set(usedBy?.edges.map(({ node }) => node.kind)),
  owned: new Set(owned?.nodes.map(({ kind }) => kind)),
});

const related = '{ services(first: 1) { nodes { usedBy { totalCount } owned { totalCount } } } }';

/** What the plan of a deletion would delete. */
const remaining = `{
  configMaps(filter: { namespaces: ["shop"], metadata: { name: { eq: "cart-config" } } }) { totalCount }
  services(filter: { namespaces: ["shop"], metadata: { name: { eq: "cart" } } }) { totalCount }
}`;

describe('on the demo world', () => {
  // The size of `portolan demo`, where readers try the examples.
  const gateway = demoGateway({ pods: 2000, churn: false }, { readOnly: 'false' });

  test('each mutation does what it says, and a plan is carried out', async () => {
    const headers = { authorization: `Bearer ${new URL(gateway.page).hash.replace('#token=', '')}` };
    // The relations are read after the first sync.
    await eventually(async () => expect((await ask(gateway.url, related)).errors).toBeUndefined());
    const results: (readonly string[])[] = [];
    const shown: unknown[] = [];
    let plan: string | null = null;
    for (const mutation of blocksOf(page, 'graphql').filter((block) => block.startsWith('mutation'))) {
      const answer: Answer<Record<string, Write>> = await ask<Record<string, Write>>(
        gateway.url,
        mutation,
        { plan },
        headers,
      );
      expect(answer.errors).toBeUndefined();
      const [write] = Object.values(answer.data ?? {});
      expect(write?.items.flatMap(({ errors }) => errors)).toEqual([]);
      results.push(write?.items.map(({ result }) => result) ?? []);
      plan = write?.planId ?? plan;
      shown.push(
        ...(write?.items ?? []).flatMap(({ object }) => (object?.usedBy === undefined ? [] : [kindsOf(object)])),
      );
    }
    expect(results).toEqual([
      ['CHANGED'],
      ['CHANGED'],
      ['DELETED', 'DELETED'],
      ['CREATED'],
      ['CHANGED'],
      ['CHANGED', 'CHANGED', 'CHANGED', 'CHANGED'],
    ]);
    expect(shown).toEqual([
      { usedBy: new Set(['Deployment', 'Pod']), owned: new Set() },
      { usedBy: new Set(['Ingress']), owned: new Set(['EndpointSlice']) },
    ]);
    const left = await ask<Record<string, unknown>>(gateway.url, remaining);
    expect(left.data).toEqual({ configMaps: { totalCount: 1 }, services: { totalCount: 1 } });
  });

  test('the subscription plans and carries out, item by item', async () => {
    const [query = ''] = blocksOf(page, 'graphql').filter((block) => block.startsWith('subscription'));
    const authorization = `Bearer ${new URL(gateway.page).hash.replace('#token=', '')}`;
    const client = createClient({ url: gateway.url, retryAttempts: 0, headers: { authorization } });
    let plan: string | null = null;
    for (const isPlan of [true, false]) {
      const variables: object = { options: isPlan ? { dryRun: true } : { plan, onError: 'CONTINUE' } };
      const counts: number[] = [];
      for await (const { data, errors } of client.iterate<{ writes: Progress }>({
        query,
        variables: { ...variables },
      })) {
        expect(errors).toBeUndefined();
        counts.push(data?.writes.done ?? -1);
        plan = data?.writes.write?.planId ?? plan;
      }
      expect(counts).toEqual([0, 1, 2, 3, 4, 4]);
    }
    client.dispose();
  });
});

test('the page names every code', () => {
  const missing = Object.keys(writeErrorCodes).filter((code) => !page.includes(`\`${code}\``));
  expect(missing).toEqual([]);
});
