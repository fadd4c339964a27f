/** The kinds of bench/abstract.ts, and lists of their objects. */
import { describeResource } from '../src/catalog/describe/describe.ts';
import type { DescribedResource } from '../src/catalog/resources/catalog.ts';
import type { StoreWriter } from '../src/store/write/writer.ts';

export const cluster = 'bench';
const atOnce = 2000;

/** Stores these objects as the first list of the kind. */
export async function list(
  writer: StoreWriter,
  resource: DescribedResource,
  objects: number,
  textOf: (index: number) => string,
): Promise<void> {
  const replace = writer.replace(writer.declare(resource));
  for (let from = 0; from < objects; from += atOnce) {
    const some = Math.min(atOnce, objects - from);
    replace.put(Array.from({ length: some }, (_, index) => ({ text: textOf(from + index) })));
    await replace.room();
  }
  await replace.commit('1');
}

/** A namespaced kind of example.com with a version, a size and a phase. */
export function describedKind(kind: string): DescribedResource {
  const plural = `${kind.toLowerCase()}s`;
  const resource = {
    group: 'example.com',
    version: 'v1',
    plural,
    singular: kind.toLowerCase(),
    kind,
    namespaced: true,
    verbs: ['get', 'list', 'watch'],
    shortNames: [],
    categories: [],
  };
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', properties: { version: { type: 'string' }, size: { type: 'integer', format: 'int64' } } },
    },
  };
  const crd = {
    spec: {
      group: 'example.com',
      names: { kind, plural },
      scope: 'Namespaced',
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: schema },
          additionalPrinterColumns: [{ name: 'Version', type: 'string', jsonPath: '.spec.version' }],
        },
      ],
    },
  };
  return describeResource({ cluster, resource, crd });
}
