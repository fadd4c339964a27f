/**
 * docs/relations.md: its queries run on the demo world, its declarations are valid, and its table is schema/relations.yaml.
 * `npm test -- test/docs/relations.test.ts -u` writes the table.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { relationsAnnotation } from '../../src/catalog/describe/relation-set.ts';
import { readAnnotation, readRelations } from '../../src/catalog/relations/read-relations.ts';
import { type Relation, textOfKind } from '../../src/catalog/relations/relation.ts';
import { joinPaths } from '../../src/catalog/tree/path.ts';
import { demoGateway } from '../kit/demo-gateway.ts';
import { ask } from '../kit/graphql-client.ts';
import { blocksOf, readPage, sectionOf } from '../kit/written-page.ts';

const path = 'docs/relations.md';
const page = readPage(path);
const shipped = parse(readFileSync(new URL('../../schema/relations.yaml', import.meta.url), 'utf8')) as {
  readonly podTemplates: readonly { readonly kind: string }[];
  readonly relations: readonly { readonly from: string; readonly name: string; readonly template?: true }[];
};

function rowOf(relation: Relation, template: boolean): string {
  const { source, name, target, reverse, reverseOn, means, weak } = relation;
  const by =
    means.by === 'reference'
      ? means.places.map(({ at, name: below }) => `\`${(below === null ? at : joinPaths(at, below)).text}\``).join(', ')
      : means.by === 'selector'
        ? `selector \`${means.place.path.text}\`${means.labels === null ? '' : `, labels \`${means.labels.text}\``}`
        : 'owner reference';
  const on =
    target === null && reverse !== null
      ? ` of ${reverseOn === 'any' ? 'every kind' : reverseOn.map(textOfKind).join(', ')}`
      : '';
  const notes = [...(template ? ['also on Pod templates'] : []), ...(weak ? ['weak'] : [])].join(', ');
  const cells = [
    textOfKind(source),
    `\`${name}\``,
    target === null ? 'any kind' : textOfKind(target),
    reverse === null ? '' : `\`${reverse}\`${on}`,
    notes === '' ? by : `${by} (${notes})`,
  ];
  return `| ${cells.join(' | ')} |`;
}

test('the page has the table of shipped relations', async () => {
  const rows = shipped.relations.map((declaration) => {
    const { relations } = readRelations({ relations: [{ ...declaration, template: undefined }] }, 'SHIPPED');
    return relations.map((relation) => rowOf(relation, declaration.template === true));
  });
  const table = ['| kind | relation | leads to | reverse | by |', '|---|---|---|---|---|', ...rows.flat()].join('\n');
  const kinds = shipped.podTemplates.map(({ kind }) => kind).join(', ');
  const generated = `Kinds with a Pod template: ${kinds}.\n\n${table}\n`;
  const section = sectionOf(page, 'Shipped relations');
  const written = `${section.replace(/^Kinds with a Pod template[\s\S]*/m, '').trimEnd()}\n\n${generated}`;
  await expect(page.replace(section, () => written)).toMatchFileSnapshot(`../../${path}`);
});

test('the declarations of the page are valid, and have every key that the page explains', () => {
  const [file = '', definition = ''] = blocksOf(page, 'yaml');
  const { relations, problems, off } = readRelations(parse(file), 'CONFIGURED');
  expect(problems).toEqual([]);
  expect(relations.length).toBeGreaterThan(4);
  expect(off).toEqual(['Pod.nominatedNode']);
  const { metadata } = parse(definition) as { metadata: { annotations: Record<string, string> } };
  const annotated = readAnnotation(metadata.annotations[relationsAnnotation] ?? '', {
    group: 'example.com',
    kind: 'Shop',
  });
  expect(annotated).toMatchObject({ problems: [], relations: [{ name: 'deployments' }] });
});

describe('on the demo world', () => {
  const gateway = demoGateway({ pods: 200, churn: false });

  test.each(blocksOf(page, 'graphql').map((query) => [query]))('%s', async (query) => {
    const { data, errors } = await ask(gateway.url, query);
    expect(errors).toBeUndefined();
    expect(data).not.toBeNull();
  });
});
