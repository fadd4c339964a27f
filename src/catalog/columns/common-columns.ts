/** Columns that many built-in kinds have. */
import { type BuiltInColumn, column, wide } from './built-in-column.ts';
import { joinedMembers, text, time } from './cell-values.ts';
import { selectorText } from './selector-text.ts';

export const name: BuiltInColumn = { ...column('Name', 'string', 'metadata.name', text), format: 'name' };

/** The creation time of the object, where kubectl shows its age. */
export const age = column('Age', 'date', 'metadata.creationTimestamp', time);

export const createdAt: BuiltInColumn = { ...age, name: 'Created At' };

export const labelSelector = column('Selector', 'string', 'spec.selector', selectorText);

/** The containers of the Pod template at this path. */
export function containers(template: string): readonly BuiltInColumn[] {
  return [
    column('Containers', 'string', `${template}.spec.containers`, joinedMembers('name')),
    column('Images', 'string', `${template}.spec.containers`, joinedMembers('image')),
  ];
}

/** The wide columns of a kind that makes Pods by the template at `spec.template`. */
export function podMaker(...more: readonly BuiltInColumn[]): readonly BuiltInColumn[] {
  return wide(...containers('spec.template'), ...more);
}
