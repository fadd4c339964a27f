import { expect, test } from 'vitest';
import { describedCrd } from '../../../test/kit/engine-fixture.ts';
import { silentLogger } from '../../base/log.ts';
import { assembleCatalog } from '../../catalog/assemble.ts';
import type { DescribedResource } from '../../catalog/resources/catalog.ts';
import { DiagnosticLog } from './diagnostic-log.ts';

const columns = [{ name: 'Ports', type: 'string', jsonPath: '.spec.ports[?(@.a>' }];
const withColumn = (kind: string, description?: string): DescribedResource =>
  describedCrd({
    kind,
    plural: `${kind.toLowerCase()}s`,
    properties: { spec: { type: 'object', description, properties: { a: { type: 'string' } } } },
    columns,
  });

function listening() {
  const said: string[] = [];
  const diagnostics = new DiagnosticLog({
    ...silentLogger,
    warn: (fields, message) => void said.push(`${(fields as { resource: string }).resource}: ${message}`),
  });
  return {
    /** The warnings that these descriptions cause now. */
    say(...described: readonly DescribedResource[]): readonly string[] {
      const catalog = assembleCatalog(described);
      diagnostics.say(catalog, catalog.diagnostics);
      return said.splice(0);
    },
  };
}

test('a diagnostic is logged once, and again when its kind changes or comes back', () => {
  const { say } = listening();
  const [foo] = say(withColumn('Foo'));
  expect(foo).toMatch(/^foos\.example\.com: .*Ports/);
  expect(say(withColumn('Foo'), withColumn('Bar'))).toEqual([foo?.replace('foos', 'bars')]);
  expect(say(withColumn('Bar'), withColumn('Foo'))).toEqual([]);
  expect(say(withColumn('Foo', 'Described.'), withColumn('Bar'))).toEqual([foo]);
  expect(say(withColumn('Bar'))).toEqual([]);
  expect(say(withColumn('Bar'), withColumn('Foo'))).toEqual([foo]);
});

test('the same words twice in one catalog are logged once', () => {
  const { say } = listening();
  const twice = withColumn('Foo');
  expect(say({ ...twice, diagnostics: [...twice.diagnostics, ...twice.diagnostics] })).toHaveLength(1);
});
