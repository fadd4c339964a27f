/** The types of the reasons why an object was not written. */
import { type WriteError, type WriteErrorCode, writeErrorCodes } from '../../writes/outcome/write-error.ts';
import type { Builder } from '../builder/builder.ts';

/** Adds the types. @returns their interface */
export function writeErrorTypes(builder: Builder) {
  const codes = Object.fromEntries(
    Object.entries(writeErrorCodes).map(([code, description]) => [code, { description }]),
  ) as Record<WriteErrorCode, { description: string }>;
  const code = builder.enumType('WriteErrorCode', { description: 'Why an object was not written.', values: codes });
  const error = builder.interfaceRef<WriteError>('WriteError').implement({
    description: 'Why an object was not written.',
    fields: (t) => ({
      code: t.field({ type: code, nullable: false, resolve: (source) => source.code }),
      message: t.exposeString('message', {
        nullable: false,
        description: "The API server's own words where it answered.",
      }),
      path: t.exposeString('path', { description: 'The field, as the API server writes it.' }),
      status: t.field({ type: 'JSON', description: 'The Status of the API server.', resolve: ({ status }) => status }),
    }),
  });
  const conflicting = builder.objectRef<NonNullable<WriteError['conflicts']>[number]>('ConflictingField').implement({
    description: 'A field that another manager owns.',
    fields: (t) => ({
      manager: t.exposeString('manager', { nullable: false }),
      path: t.exposeString('path', { nullable: false }),
    }),
  });
  builder.objectRef<WriteError>('FieldConflict').implement({
    description: 'Other managers own fields of the manifest. `force: true` takes the fields.',
    interfaces: [error],
    isTypeOf: isOf('FieldConflict'),
    fields: (t) => ({
      conflicts: t.field({
        type: [conflicting],
        nullable: { list: false, items: false },
        resolve: ({ conflicts = [] }) => [...conflicts],
      }),
    }),
  });
  const deniedBy = builder.enumType('DeniedBy', {
    description: 'Who refused a request.',
    values: {
      RBAC: { description: 'The caller lacks a right.' },
      ADMISSION: { description: 'An admission webhook or plugin.' },
      QUOTA: { description: 'A ResourceQuota.' },
      POLICY: { description: 'A ValidatingAdmissionPolicy, Pod Security or a LimitRange.' },
      GATEWAY: { description: "Portolan: it may not send the caller's requests to the cluster." },
    },
  });
  builder.objectRef<WriteError>('Denied').implement({
    description: 'The API server refuses the request.',
    interfaces: [error],
    isTypeOf: isOf('Denied'),
    fields: (t) => ({ by: t.field({ type: deniedBy, nullable: false, resolve: ({ by }) => by ?? 'ADMISSION' }) }),
  });
  builder.objectRef<WriteError>('TryLater').implement({
    description: 'A PodDisruptionBudget or a limit of requests does not allow it now.',
    interfaces: [error],
    isTypeOf: isOf('TryLater'),
    fields: (t) => ({
      retryAfterSeconds: t.int({ resolve: (source) => source.retryAfterSeconds ?? null }),
    }),
  });
  const edit = builder.objectRef<NonNullable<WriteError['edits']>[number]>('EditConflict').implement({
    description: 'A field that an edit and others have changed. Null where there is no value.',
    fields: (t) => ({
      path: t.exposeString('path', { nullable: false }),
      base: t.field({ type: 'JSON', resolve: ({ base }) => base ?? null }),
      edited: t.field({ type: 'JSON', resolve: (source) => source.edited ?? null }),
      live: t.field({ type: 'JSON', description: 'The value of now.', resolve: ({ live }) => live ?? null }),
      isWithheld: t.exposeBoolean('isWithheld', {
        nullable: false,
        description: 'Is something of the live value not shown, because the path is redacted?',
      }),
    }),
  });
  builder.objectRef<WriteError>('StaleObject').implement({
    description:
      'The object is not the one, or not in the state, that was named. Of an edit, others have changed the same fields.',
    interfaces: [error],
    isTypeOf: isOf('StaleObject'),
    fields: (t) => ({
      conflicts: t.field({
        type: [edit],
        nullable: { list: false, items: false },
        resolve: ({ edits = [] }) => [...edits],
      }),
    }),
  });
  for (const [name, description] of plainErrors) {
    builder
      .objectRef<WriteError>(name)
      .implement({ description, interfaces: [error], isTypeOf: isOf(name), fields: () => ({}) });
  }
  return error;
}

/** A test by the code, because the names of types may have a prefix. */
function isOf(name: string): (source: unknown) => boolean {
  return (source) => (typeNames[(source as WriteError).code] ?? 'WriteFailure') === name;
}

const plainErrors: readonly (readonly [string, string])[] = [
  ['InvalidField', 'The API server refuses a value, or does not know a field.'],
  ['WriteFailure', 'Another reason; see the code.'],
];

/** The types of errors with fields or a meaning of their own. */
const typeNames: Partial<Record<WriteErrorCode, string>> = {
  FIELD_CONFLICT: 'FieldConflict',
  STALE_OBJECT: 'StaleObject',
  INVALID_FIELD: 'InvalidField',
  IMMUTABLE: 'InvalidField',
  DENIED: 'Denied',
  DISRUPTION_BUDGET: 'TryLater',
  TOO_MANY_REQUESTS: 'TryLater',
};
