/** Members of metadata that the API server sets, whatever a client writes. */

/** Of every object. A write changes some of them by itself, so they are no part of its changes. */
export const serverFields: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
]);

/** Also those of an object that is being deleted. They are a change that a caller must see. */
export const serverFieldsOfDeleted: ReadonlySet<string> = new Set([
  ...serverFields,
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
]);
