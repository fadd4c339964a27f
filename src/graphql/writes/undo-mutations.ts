/**
 * The mutations that bring a change into an object that others change too, or take changes back: `edit`, `revert` and `rollback`.
 */
import { isRelativeTime } from '../../catalog/values/relative-time.ts';
import { pastState } from '../../reads/history/past-state.ts';
import type { Builder } from '../builder/builder.ts';
import { writeField } from './write-field.ts';
import { type DocumentArgument, documentOf, type TargetArgument, targetOf } from './write-inputs.ts';
import type { addWriteTypes } from './write-types.ts';

type WriteRef = ReturnType<typeof addWriteTypes>['write'];

/** Adds the mutations to the type Mutation. */
export function addUndoMutations(builder: Builder, write: WriteRef): void {
  builder.inputType('StateInput', {
    description: 'A recorded state of an object.',
    isOneOf: true,
    fields: (t) => ({
      time: t.string({ description: 'As it was at a time, or at one relative to now such as -10m.' }),
      resourceVersion: t.string({
        description: 'Its state of this resourceVersion, as `history` and `changes` have it.',
      }),
    }),
  });
  addEdit(builder, write);
  addRevert(builder, write);
  addRollback(builder, write);
}

function addEdit(builder: Builder, write: WriteRef): void {
  builder.mutationField('edit', (t) =>
    t.field({
      type: write,
      nullable: false,
      description:
        'Brings what differs between `base` and `edited` into the object as it is now. What others have changed meanwhile stays. A field that both have changed is STALE_OBJECT.',
      args: {
        target: t.arg({ type: 'TargetInput' as never, required: true }),
        base: t.arg({
          type: 'ManifestInput' as never,
          required: true,
          description: 'The object that was given to the editor.',
        }),
        edited: t.arg({ type: 'ManifestInput' as never, required: true, description: 'The object as it came back.' }),
        options: t.arg({ type: 'WriteOptions' as never }),
      },
      ...writeField((args) => {
        const { target, base, edited } = args as unknown as EditArguments;
        return {
          verb: 'edit',
          args: [target, base, edited],
          force: false,
          targets: {
            edit: {
              object: targetOf(target),
              base: documentOf(base, '`base`'),
              edited: documentOf(edited, '`edited`'),
            },
          },
          action: ({ base: before, manifest: after }) => ({ verb: 'edit', base: before ?? {}, edited: after ?? {} }),
        };
      }),
    }),
  );
}

interface EditArguments {
  readonly target: TargetArgument;
  readonly base: DocumentArgument;
  readonly edited: DocumentArgument;
}

function addRevert(builder: Builder, write: WriteRef): void {
  builder.mutationField('revert', (t) =>
    t.field({
      type: write,
      nullable: false,
      description:
        'Makes an object what it was: its labels, annotations, spec and all other parts but the status. A deleted object is created again.',
      args: {
        target: t.arg({ type: 'TargetInput' as never, required: true }),
        to: t.arg({ type: 'StateInput' as never, required: true }),
        options: t.arg({ type: 'WriteOptions' as never }),
      },
      ...writeField((args, operation) => {
        const { target, to } = args as unknown as RevertArguments;
        const wanted = { time: to.time ?? null, resourceVersion: to.resourceVersion ?? null };
        return {
          verb: 'revert',
          args: [target, to],
          force: false,
          targets: {
            past: {
              object: targetOf(target),
              state: (kind, identity, now) => pastState(operation, kind, identity, { ...wanted, now }),
            },
          },
          action: ({ manifest, stateUid = null, unchangedAt = null }) => ({
            verb: 'revert',
            body: manifest ?? {},
            uid: stateUid,
            unchangedAt,
            isFixed: wanted.time === null || !isRelativeTime(wanted.time),
          }),
        };
      }),
    }),
  );
}

interface RevertArguments {
  readonly target: TargetArgument;
  readonly to: { readonly time?: string | null; readonly resourceVersion?: string | null };
}

function addRollback(builder: Builder, write: WriteRef): void {
  builder.mutationField('rollback', (t) =>
    t.field({
      type: write,
      nullable: false,
      description: 'Brings back the Pod template of an earlier revision, as kubectl rollout undo does.',
      args: {
        target: t.arg({ type: 'TargetInput' as never, required: true }),
        revision: t.arg.int({ description: 'The one before the newest when not given.' }),
        options: t.arg({ type: 'WriteOptions' as never }),
      },
      ...writeField((args) => {
        const { target, revision: given } = args as unknown as { target: TargetArgument; revision?: number | null };
        const revision = given ?? null;
        return {
          verb: 'rollback',
          args: [target, revision],
          force: false,
          targets: { objects: [targetOf(target)] },
          action: () => ({ verb: 'rollback', revision }),
        };
      }),
    }),
  );
}
