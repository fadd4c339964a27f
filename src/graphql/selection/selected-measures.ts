/** The measurements that a selection of an aggregate needs. */
import { type GraphQLField, type GraphQLObjectType, type GraphQLResolveInfo, getArgumentValues } from 'graphql';
import type { Measured } from '../../query/plan/aggregate.ts';
import { type Measure, type MeasuredPath, measuredAt, mergeMeasured } from '../../reads/aggregates/aggregate-paths.ts';
import type { Aggregated } from '../../reads/aggregates/aggregated.ts';
import { fragmentsOf, selectedFields, selectionsAt } from './walk.ts';

/**
 * The measurements that the selection of a field needs, so that one statement reads them all. `steps` is the path of field names
 * from the field to its aggregates. Arguments with errors are skipped; the field reports the error when it is resolved.
 */
export function selectedMeasures(
  aggregated: Aggregated,
  type: GraphQLObjectType,
  info: GraphQLResolveInfo,
  steps: readonly string[],
): readonly Measured[] {
  const fields = type.getFields();
  const sets = selectionsAt(
    fragmentsOf(info),
    info.fieldNodes.map((node) => node.selectionSet),
    steps,
  );
  const measured: Measured[] = [];
  for (const { node } of selectedFields(fragmentsOf(info), sets, type, { typeOf: () => type })) {
    const measure = measures.find((name) => name === node.name.value);
    const field: GraphQLField<unknown, unknown> | undefined = fields[node.name.value];
    if (measure === undefined || field === undefined) continue;
    try {
      const values = getArgumentValues(field, node, info.variableValues);
      measured.push(measuredAt(aggregated, measure, values as unknown as MeasuredPath));
    } catch {
      // The field reports the error when it is resolved.
    }
  }
  return mergeMeasured(measured);
}

const measures: readonly Measure[] = ['sum', 'avg', 'min', 'max'];
