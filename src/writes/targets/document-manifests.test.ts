import { expect, test } from 'vitest';
import { engineFixture } from '../../../test/kit/engine-fixture.ts';
import { widget } from '../../../test/kit/graphql-world.ts';
import { localUser } from '../../access/caller.ts';
import { beginOperation } from '../../operation/operation.ts';
import { manifestBounds } from '../manifests/manifest-bounds.ts';
import { manifestsOfYaml } from '../manifests/read-manifests.ts';
import { documentManifests } from './document-manifests.ts';

const yamlOf = (name: string, more = ''): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n${more}`;
const json = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
const ofYaml = (yaml: string) => ({ json: null, yaml });
const ofJson = (value: unknown) => ({ json: value, yaml: null });

/** Documents of one operation. The texts that are long are noted. */
async function reader() {
  const fixture = engineFixture();
  await fixture.declare(widget());
  const operation = beginOperation(fixture.engine.source, localUser);
  const long: string[] = [];
  const longManifests = {
    async read(texts: readonly { readonly place: string; readonly text: string }[]) {
      long.push(...texts.map(({ place }) => place));
      return texts.map(({ text }) => manifestsOfYaml(text).map((manifest) => JSON.stringify(manifest)));
    },
  };
  return {
    long,
    read: (...documents: Parameters<typeof documentManifests>[2]) =>
      documentManifests(operation, { longManifests }, documents),
  };
}

const namesOf = (all: Awaited<ReturnType<typeof documentManifests>>) => all.map((each) => each.map(({ name }) => name));

test('each document gives its manifests, those of long texts too', async () => {
  const { read, long } = await reader();
  const several = `${yamlOf('b')}---\n${yamlOf('c', 'count: 12345678901234567890\n')}`;
  const documents = [ofJson(json('a')), ofYaml(several), ofJson({ kind: 'List', items: [] }), ofYaml(yamlOf('d'))];
  const names = [['a'], ['b', 'c'], [], ['d']];
  const short = await read(...documents);
  expect([namesOf(short), long]).toEqual([names, []]);
  const also = await read(...documents, ofYaml(yamlOf('e', `v: ${'x'.repeat(8192)}`)));
  expect([namesOf(also), long]).toEqual([
    [...names, ['e']],
    ['docs[1]', 'docs[3]', 'docs[4]'],
  ]);
  expect(JSON.stringify(also.slice(0, 4))).toBe(JSON.stringify(short));
  expect(JSON.stringify(also[1]?.[1]?.object)).toContain('"count":12345678901234567890');
});

test('many short texts of one operation are a long one', async () => {
  const { read, long } = await reader();
  const text = yamlOf('a', `v: ${'x'.repeat(3000)}`);
  await read(ofYaml(text), ofYaml(text));
  expect(long).toEqual([]);
  await read(ofYaml(text));
  expect(long).toEqual(['docs[0]']);
});

test('an error names the document', async () => {
  const { read } = await reader();
  await expect(read(ofJson(json('a')), ofYaml('a: [')).catch((error) => error.message)).resolves.toMatch(
    /^docs\[1\]: The text is not YAML/,
  );
  await expect(read(ofJson([]))).rejects.toThrow('docs[0]: The manifest at the top level is no object');
});

test('the bounds hold for an operation, whose fields may share a variable', async () => {
  const { read, long } = await reader();
  const document = ofYaml(yamlOf('a', `v: ${'x'.repeat(manifestBounds.bytes / 3)}`));
  await read(document);
  await read(document);
  await expect(read(document)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { limit: 'bytes' } });
  expect(long).toHaveLength(2);
  const wide = ofJson({ ...json('a'), v: Array<number>(manifestBounds.values / 2).fill(0) });
  const { read: readJson } = await reader();
  await readJson(wide);
  await expect(readJson(wide)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', details: { limit: 'values' } });
});
