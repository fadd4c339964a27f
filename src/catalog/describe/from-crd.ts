/**
 * A kind's field tree, printer columns and selectable fields from its CustomResourceDefinition (apiextensions.k8s.io/v1).
 */
import { PortolanError } from '../../base/errors.ts';
import { recordOr, records, strings, textOr } from '../../base/json.ts';
import { fromJsonPath } from '../paths/json-path.ts';
import type { PrinterColumn } from '../resources/catalog.ts';
import { apiVersionOf, type Resource } from '../resources/resource.ts';
import { describeText } from '../tree/describe-text.ts';
import { normalizeTree } from '../tree/normalize-tree.ts';
import { SchemaWalker } from '../tree/walk-schema.ts';
import type { SchemaDescription } from './from-openapi.ts';

interface CrdDescription extends SchemaDescription {
  /** Without the name column. Null when the CRD declares none. Paths are not checked against the tree yet. */
  readonly printerColumns: readonly PrinterColumn[] | null;
  /** Paths, not checked against the tree yet. */
  readonly selectable: readonly string[];
}

type Json = Readonly<Record<string, unknown>>;

/**
 * Describes the resource's version of the CRD.
 * @throws PortolanError INVALID when the CRD lacks this version, or the value is not a CRD.
 */
export function describeFromCrd(crd: unknown, resource: Resource): CrdDescription {
  const spec = recordOr(recordOr(crd)['spec']);
  const version = records(spec['versions']).find((each) => each['name'] === resource.version);
  if (version === undefined) {
    throw new PortolanError(
      'INVALID',
      `The CustomResourceDefinition of ${resource.kind} has no version ${resource.version}; wait until ${apiVersionOf(resource)} is established or remove it.`,
    );
  }
  const schema = recordOr(recordOr(version['schema'])['openAPIV3Schema']);
  const walker = new SchemaWalker();
  const root = walker.root(
    spec['preserveUnknownFields'] === true ? { ...schema, 'x-kubernetes-preserve-unknown-fields': true } : schema,
  );
  const description = describeText(schema['description']);
  const columns = version['additionalPrinterColumns'];
  return {
    tree: normalizeTree(root, walker.drafts),
    ...(description === undefined ? {} : { description }),
    messages: walker.messages,
    printerColumns: Array.isArray(columns) ? records(columns).map(column) : null,
    selectable: records(version['selectableFields']).flatMap((each) => fromJsonPath(textOr(each['jsonPath'])) ?? []),
  };
}

/** The resource of a CRD as in discovery, in the given version or in the stored one. Null when the value is not a CRD. */
export function resourceOfCrd(crd: unknown, version?: string): Resource | null {
  const spec = recordOr(recordOr(crd)['spec']);
  const names = recordOr(spec['names']);
  const served = records(spec['versions']).filter((each) => each['served'] !== false);
  const chosen = served.find((each) => (version === undefined ? each['storage'] === true : each['name'] === version));
  const name = textOr((chosen ?? served[0])?.['name']);
  if (textOr(names['kind']) === '' || textOr(names['plural']) === '' || textOr(spec['group']) === '' || name === '')
    return null;
  return {
    group: textOr(spec['group']),
    version: name,
    plural: textOr(names['plural']),
    singular: textOr(names['singular']) || textOr(names['kind']).toLowerCase(),
    kind: textOr(names['kind']),
    namespaced: spec['scope'] !== 'Cluster',
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    shortNames: strings(names['shortNames']),
    categories: strings(names['categories']),
  };
}

function column(declared: Json): PrinterColumn {
  const format = textOr(declared['format']);
  const description = describeText(declared['description']);
  return {
    name: textOr(declared['name']),
    type: textOr(declared['type']),
    ...(format === '' ? {} : { format }),
    ...(description === undefined ? {} : { description }),
    priority: typeof declared['priority'] === 'number' ? declared['priority'] : 0,
    path: fromJsonPath(textOr(declared['jsonPath'])),
    jsonPath: textOr(declared['jsonPath']),
  };
}
