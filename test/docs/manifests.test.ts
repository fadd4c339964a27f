/** docs/manifests.md: its query runs on the demo world, and the schema that the command prints takes its manifest. */
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { jsonSchema } from '../../src/cli/remote/json-schema.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { validatorOf } from '../kit/manifest-verdicts.ts';
import { blocksOf, readPage } from '../kit/written-page.ts';

const page = readPage('docs/manifests.md');

interface Printed {
  readonly resources: readonly {
    readonly key: string;
    readonly jsonSchema: Readonly<Record<string, unknown>> | null;
  }[];
}

describe('docs/manifests.md', () => {
  const gateway = demoGateway({ pods: 20, churn: false });

  const printed = async (kind: string, cluster?: string): Promise<Readonly<Record<string, unknown>>> => {
    const texts: string[] = [];
    const flags = { kind, ...(cluster === undefined ? {} : { cluster }) };
    await jsonSchema({ url: gateway.url, token: undefined }, flags, { write: (text) => texts.push(text) });
    return JSON.parse(texts.join('')) as Readonly<Record<string, unknown>>;
  };

  test('the query has the schema that the command prints', async () => {
    const [query = ''] = blocksOf(page, 'graphql');
    const { data, errors } = await ask<Printed>(gateway.url, query);
    expect(errors).toBeUndefined();
    expect(data?.resources).toEqual([
      { cluster: 'demo', key: 'deployments.apps', jsonSchema: await printed('Deployment') },
    ]);
  });

  test('the manifest is valid, and with another value it is not', async () => {
    const [yaml = ''] = blocksOf(page, 'yaml');
    const validate = validatorOf(await printed('Deployment'));
    expect(validate(parse(yaml))).toBe(true);
    for (const [from, to] of [
      ['replicas: 2', 'replicas: two'],
      ['image: nginx', 'imagine: nginx'],
      ['kind: Deployment', 'kind: Deploiment'],
      ['name: web\nspec', 'title: web\nspec'],
    ] as const) {
      expect(yaml).toContain(from);
      expect([from, validate(parse(yaml.replace(from, to)))]).toEqual([from, false]);
    }
  });

  test('abstract kinds have none, unknown kinds are an error, and subscriptions are refused', async () => {
    const abstract = await ask<Printed>(gateway.url, '{ resources { key jsonSchema } }');
    const without = abstract.data?.resources.filter((each) => each.jsonSchema === null).map(({ key }) => key);
    expect(without?.length).toBeGreaterThan(0);
    expect(without?.every((key) => key.endsWith('.abstract'))).toBe(true);
    await expect(printed('NoSuchKind')).rejects.toThrow('NoSuchKind');
    await expect(printed('AppInstance')).rejects.toThrow('AppInstance is an abstract kind: it has no manifests');
    await expect(printed('Pod', 'nope')).rejects.toThrow(/nope.*, or you may not see it: check the kind and --cluster/);
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
      body: JSON.stringify({ query: 'query @live { resources(kinds: ["Pod"]) { jsonSchema } }' }),
    });
    let told = '';
    for await (const chunk of response.body ?? []) {
      told += Buffer.from(chunk).toString();
      if (told.includes('errors')) break;
    }
    expect(told).toContain('A subscription or a live query does not have jsonSchema');
  });
});
