/**
 * The mutations that take manifests or a patch. Those on targets by id or query are in src/graphql/schema/target-mutations.ts, because a
 * filter input is made from the kinds.
 */
import type { Builder } from '../builder/builder.ts';
import { addUndoMutations } from './undo-mutations.ts';
import { writeField } from './write-field.ts';
import {
  addWriteInputs,
  type DocumentArgument,
  documentsOf,
  objectsIn,
  type TargetArgument,
  targetOf,
} from './write-inputs.ts';
import { addWriteStream } from './write-stream.ts';
import { addWriteTypes } from './write-types.ts';

/** Adds the type Mutation, and what the subscription `writes` needs. */
export function addWrites(builder: Builder): void {
  const types = addWriteTypes(builder);
  const { write } = types;
  addWriteInputs(builder);
  addWriteStream(builder, types);
  builder.mutationType({});
  addManifestMutations(builder, write);
  addPatch(builder, write);
  addUndoMutations(builder, write);
}

type WriteRef = ReturnType<typeof addWriteTypes>['write'];

function addManifestMutations(builder: Builder, write: WriteRef): void {
  const descriptions = {
    apply: 'Server-side apply: the fields of each manifest become as written there, and belong to the field manager.',
    create: 'Creates the object of each manifest.',
  } as const;
  for (const verb of ['apply', 'create'] as const) {
    builder.mutationField(verb, (t) =>
      t.field({
        type: write,
        nullable: false,
        description: descriptions[verb],
        args: {
          docs: t.arg({ type: ['ManifestInput' as never], required: true }),
          ...(verb === 'apply'
            ? { force: t.arg.boolean({ defaultValue: false, description: 'Takes fields from other managers.' }) }
            : {}),
          options: t.arg({ type: 'WriteOptions' as never }),
        },
        ...writeField(
          (args) => {
            const { docs, force: given } = args as { docs: readonly DocumentArgument[]; force?: boolean | null };
            const force = given === true;
            return {
              verb,
              args: docs,
              force,
              targets: { documents: documentsOf(docs) },
              action: ({ manifest: some }) => {
                const manifest = some ?? {};
                return verb === 'apply' ? { verb, manifest, force } : { verb, manifest };
              },
            };
          },
          ({ docs }) => objectsIn(docs),
        ),
      }),
    );
  }
}

interface PatchArguments {
  readonly target: TargetArgument;
  readonly type?: 'MERGE' | 'JSON' | 'STRATEGIC' | null;
  readonly patch: unknown;
  readonly subresource?: string | null;
}

function addPatch(builder: Builder, write: WriteRef): void {
  const type = builder.enumType('PatchType', {
    description: 'The format of a patch.',
    values: {
      MERGE: { description: 'JSON Merge Patch (RFC 7386): null removes a field, a list is replaced.' },
      JSON: { description: 'JSON Patch (RFC 6902): a list of operations.' },
      STRATEGIC: {
        description: "Kubernetes' strategic merge patch, for built-in kinds: lists are merged by their keys.",
      },
    },
  });
  builder.mutationField('patch', (t) =>
    t.field({
      type: write,
      nullable: false,
      description: 'Patches one object.',
      args: {
        target: t.arg({ type: 'TargetInput' as never, required: true }),
        type: t.arg({ type, defaultValue: 'MERGE' }),
        patch: t.arg({ type: 'JSON', required: true }),
        subresource: t.arg.string({ description: 'Such as status; the object itself when not given.' }),
        options: t.arg({ type: 'WriteOptions' as never }),
      },
      ...writeField((args) => {
        const { target, type: given, patch, subresource: named } = args as unknown as PatchArguments;
        const [format, subresource] = [given ?? 'MERGE', named ?? null];
        return {
          verb: 'patch',
          args: [target, format, patch, subresource],
          force: false,
          targets: { objects: [targetOf(target)] },
          action: () => ({ verb: 'patch', format, patch, subresource }),
        };
      }),
    }),
  );
}
