/** The health of an object: its type, and the field with what it includes of related objects. */
import type { HealthStatus } from '../../catalog/health/health-status.ts';
import type { HealthName } from '../../catalog/tree/path.ts';
import { loadRolledUpHealth, type RolledUpHealth, type RollUp } from '../../reads/related/rolled-up-health.ts';
import { deepestOwned } from '../../store/types/owned-tree.ts';
import type { Builder } from '../builder/builder.ts';
import { facts } from '../selection/field-facts.ts';
import { nodesKeyOf } from '../selection/list-selection.ts';
import { projectionBelow, projectionIfSelected } from '../selection/projection-below.ts';

function healthStatusEnum(builder: Builder) {
  const statuses: Record<HealthStatus, { description: string }> = {
    Current: { description: 'The object is as its specification says.' },
    InProgress: { description: 'A controller still works on the object.' },
    Failed: { description: 'A controller failed, or gave up.' },
    Suspended: { description: 'Somebody paused or stopped it on purpose.' },
    Terminating: { description: 'The object is being deleted.' },
    Unknown: { description: 'The status of the object cannot be read, or is a word that is not known.' },
  };
  return builder.enumType('HealthStatus', { description: 'The statuses of kstatus, and Suspended.', values: statuses });
}

function healthSourceEnum(builder: Builder) {
  const sources: Record<RolledUpHealth['source'], { description: string }> = {
    DELETION: { description: 'metadata.deletionTimestamp.' },
    GENERATION: { description: 'status.observedGeneration, which is not metadata.generation.' },
    RECONCILING: { description: 'The condition Reconciling or Stalled.' },
    CONFIGURED: { description: 'A rule of --health-rules.' },
    SHIPPED: { description: 'A rule for a well-known operator, which Portolan ships.' },
    BUILT_IN: { description: 'The rule of kstatus for the kind.' },
    READY: { description: 'The condition Ready.' },
    CONVENTION: { description: 'The word in status.phase or status.state of a custom resource.' },
    DEFAULT: { description: 'Nothing says that the object is not Current.' },
    INVALID: { description: 'The status cannot be read.' },
    REFERENCE: { description: 'An object that is named and does not exist. Only with `rollUp: RELATED`.' },
  };
  return builder.enumType('HealthSource', { description: 'What decided on the health of an object.', values: sources });
}

function rollUpEnum(builder: Builder) {
  const values: Record<RollUp, { description: string }> = {
    OWNED: { description: 'All that the object owns, over at most 8 owner references, as far as you may see it.' },
    RELATED: {
      description:
        'Also what the object and the owned ones name. A named object that does not exist counts as Failed, with the reason Missing.',
    },
  };
  return builder.enumType('RollUp', { description: 'What the health of an object includes.', values });
}

/** Values that a roll-up counts for before its objects are counted. */
const rollUpCost = 10;

export type HealthStatusRef = ReturnType<typeof healthStatusEnum>;

/** Adds the field `health` and the types below it. Returns the enum of health statuses. */
export function addHealth(builder: Builder): HealthStatusRef {
  const healthStatus = healthStatusEnum(builder);
  builder.objectType('Health', {
    description: 'The state of an object, by the rules of kstatus and by rules for custom resources.',
    fields: (t) => ({
      status: t.expose('status', { type: healthStatus, nullable: false, extensions: healthPart('status') }),
      reason: t.exposeString('reason', {
        description:
          'Why the object is not Current, as one word: LessReady, ContainerCrashLooping, or the reason of a condition.',
        extensions: healthPart('reason'),
      }),
      message: t.exposeString('message', {
        description: 'What the object says beside the reason, for people. At most 1,024 characters.',
        extensions: healthPart('message'),
      }),
      source: t.expose('source', {
        type: healthSourceEnum(builder),
        nullable: false,
        description: 'What decided.',
        extensions: healthPart('source'),
      }),
      culprit: t.field({
        type: 'KubernetesObject',
        description:
          'With `rollUp`: the object whose health this is. Null if it is that of the object itself, or if a named object does not exist.',
        resolve: (health) => health.culprit ?? null,
      }),
      chain: t.field({
        type: ['KubernetesObject'],
        description:
          'With `rollUp`: the objects from this one, which is left out, to the culprit. Each is owned by the one before it; with RELATED, the last may be named by it. Null if the health is that of the object itself.',
        nullable: { list: true, items: false },
        extensions: facts({ cost: { repeats: () => deepestOwned + 1 } }),
        resolve: (health) => (health.chain == null ? null : [...health.chain]),
      }),
    }),
  });
  const rollUp = rollUpEnum(builder);
  builder.interfaceField('KubernetesObject', 'health', (t) =>
    t.field({
      type: 'Health',
      nullable: false,
      args: {
        rollUp: t.arg({
          type: rollUp,
          description: 'The worst of the object and of these. Default: only the object.',
        }),
      },
      extensions: facts({
        plain: { is: 'health' },
        cost: { own: (args) => (args['rollUp'] == null ? 1 : rollUpCost) },
      }),
      resolve: (source, args, { portolan }, info) => {
        if (args.rollUp == null) return source.row.health;
        const key = nodesKeyOf(info);
        const selected = portolan.loader(`health ${key}`, () => ({
          culprit: projectionBelow(info, ['culprit']),
          chain: projectionIfSelected(info, ['chain']),
          key,
        }));
        return loadRolledUpHealth(source, args.rollUp, selected);
      },
    }),
  );
  return healthStatus;
}

function healthPart(of: HealthName): ReturnType<typeof facts> {
  return facts({ plain: { is: 'healthPart', of } });
}
