/** The field `data` of Secrets. It has a value only where the gateway fetches it as the caller (src/operation/secret-data.ts). */
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import type { Field } from '../../catalog/tree/field-tree.ts';
import { displayedMember } from '../../catalog/values/displayed-value.ts';
import { secretDataOf } from '../../operation/secret-data.ts';
import type { ObjectSource } from '../../reads/lists/object-source.ts';
import { counted } from '../selection/answer-size.ts';
import { facts } from '../selection/field-facts.ts';
import { misfitErrors } from '../selection/misfit-errors.ts';
import type { ObjectFields } from './kind-shells.ts';
import type { FieldConfig } from './shape-types.ts';

/** Is this the field whose values are fetched? */
export function isSecretData({ key }: CatalogKind, { name }: Field): boolean {
  return key === 'secrets' && name === 'data';
}

/** The field without a `plain` fact, so that no prepared answer has it. It reads nothing of the stored body. */
export function secretDataField(config: FieldConfig, { name, type }: Field): ObjectFields[string] {
  return {
    ...config,
    extensions: facts({ cost: { own: 10 } }),
    resolve: async ({ operation, kind, row, isPast }: ObjectSource, _args, context) => {
      // The API server has the data of now.
      if (isPast) return null;
      const secret = await secretDataOf(operation, kind.resource, row);
      if (secret === null) return null;
      return counted(context, displayedMember({ name, type, items: 'nonNull' }, secret, misfitErrors(context)));
    },
  };
}
