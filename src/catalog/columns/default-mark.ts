/** The name column of classes, which marks the default one. */
import { type BuiltInColumn, column } from './built-in-column.ts';
import { memberOf, text } from './cell-values.ts';

/** `gold (default)` if one of the annotations is `true`. */
export function defaultMark(...annotations: readonly string[]): BuiltInColumn {
  return {
    ...column('Name', 'string', 'metadata.name metadata.annotations', (title, given) =>
      annotations.some((key) => memberOf(given, key) === 'true') ? `${text(title)} (default)` : text(title),
    ),
    format: 'name',
  };
}
