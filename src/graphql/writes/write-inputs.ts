/** The inputs that mutations have in common, and what their arguments mean. */
import { PortolanError } from '../../base/errors.ts';
import { defaultWait } from '../../writes/run/write-options.ts';
import type { ManifestDocument, TargetObject } from '../../writes/targets/wanted-targets.ts';
import type { Builder } from '../builder/builder.ts';

/** Adds the inputs. */
export function addWriteInputs(builder: Builder): void {
  builder.enumType('WriteOrder', {
    description: 'The order in which objects are written.',
    values: {
      BY_KIND: {
        description:
          'What others need first: namespaces, CRDs, rights, configuration, workloads. Removals run the other way.',
      },
      GIVEN: { description: 'One after the other, as they are given.' },
    },
  });
  builder.enumType('OnError', {
    description: 'What happens after the first object that cannot be written.',
    values: {
      STOP: { description: 'No further object is begun; the others are SKIPPED.' },
      CONTINUE: { description: 'Each object for itself.' },
      REVERT: { description: 'As STOP, and then what was written is undone, as far as it can be.' },
    },
  });
  builder.inputType('WriteOptions', {
    description: 'How a mutation is carried out.',
    fields: (t) => ({
      dryRun: t.boolean({
        defaultValue: false,
        description: 'Plans: the API server checks everything, and nothing is written.',
      }),
      plan: t.id({
        description: 'The planId of a dry run with the same arguments: exactly that is written, or nothing.',
      }),
      requestId: t.id({ description: 'Makes a repeat harmless, at any replica. For restarts a UUID of version 7.' }),
      fieldManager: t.string({
        description: 'The manager to which the API server counts the fields; default portolan.',
      }),
      order: t.field({ type: 'WriteOrder' as never, defaultValue: 'BY_KIND' as never }),
      onError: t.field({ type: 'OnError' as never, defaultValue: 'STOP' as never }),
      waitMs: t.int({
        defaultValue: defaultWait,
        description: 'Milliseconds to wait until the tables show the writes (`seen`); 0 to 30000.',
      }),
    }),
  });
  builder.inputType('ManifestInput', {
    description: 'Manifests, as JSON or as YAML: exactly one of both.',
    fields: (t) => ({
      cluster: t.string({ description: 'Needed where there are several clusters.' }),
      namespace: t.string({ description: 'For namespaced objects that name none.' }),
      json: t.field({ type: 'JSON', description: 'One object, or a List.' }),
      yaml: t.string({ description: 'One or several documents.' }),
    }),
  });
  builder.inputType('TargetInput', {
    description: 'An object to write.',
    fields: (t) => ({
      id: t.id({ required: true }),
      uid: t.string({ description: 'Only the object with this uid.' }),
      resourceVersion: t.string({ description: 'Only the object in this version.' }),
    }),
  });
  builder.enumType('Propagation', {
    description: 'What happens to the objects that a deleted one owns.',
    values: {
      BACKGROUND: { description: 'They are deleted after it.' },
      FOREGROUND: { description: 'It is gone when they are.' },
      ORPHAN: { description: 'They stay.' },
    },
  });
}

export interface DocumentArgument {
  readonly cluster?: string | null;
  readonly namespace?: string | null;
  readonly json?: unknown;
  readonly yaml?: string | null;
}

/** @param place in messages @throws PortolanError BAD_USER_INPUT without exactly one of `json` and `yaml` */
export function documentOf({ cluster, namespace, json, yaml }: DocumentArgument, place: string): ManifestDocument {
  const isJson = json !== null && json !== undefined;
  if (isJson === (typeof yaml === 'string')) {
    throw new PortolanError('BAD_USER_INPUT', `${place} needs exactly one of \`json\` and \`yaml\`.`);
  }
  return { cluster: cluster ?? null, namespace: namespace ?? null, json, yaml: yaml ?? null };
}

/** The documents of an argument `docs`. */
export function documentsOf(docs: readonly DocumentArgument[]): readonly ManifestDocument[] {
  return docs.map((each, index) => documentOf(each, `docs[${index}]`));
}

/** The number of objects, roughly: it is charged before the texts are read. */
export function objectsIn(docs: unknown): number {
  const some = (Array.isArray(docs) ? docs : []) as readonly DocumentArgument[];
  return some.reduce((sum, { json, yaml }) => {
    const items = (json as { items?: unknown } | null)?.items;
    return sum + (typeof yaml === 'string' ? yaml.split(/^---/m).length : Array.isArray(items) ? items.length : 1);
  }, 0);
}

export interface TargetArgument {
  readonly id: string;
  readonly uid?: string | null;
  readonly resourceVersion?: string | null;
}

/** The object that a TargetInput names. */
export function targetOf({ id, uid, resourceVersion }: TargetArgument): TargetObject {
  return { id, uid: uid ?? null, resourceVersion: resourceVersion ?? null };
}
