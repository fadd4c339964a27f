/** Random rights of callers, and random writes to objects with a few names, so that both meet often. */
import { must } from '../../src/base/must.ts';
import { resourceKey } from '../../src/catalog/resources/resource.ts';
import { resourcePath } from '../../src/kube/http/resource-path.ts';
import { encodeObjectId } from '../../src/query/plan/object-id.ts';
import type { PatchFormat, WriteVerb } from '../../src/writes/request/write-intent.ts';
import type { Dice } from '../fuzz/dice.ts';
import { robot, writingUsers } from './writing-users.ts';
import { valueAnnotation, type WrittenKind, writtenKinds, writtenManifest } from './written-kinds.ts';

export const writtenNamespaces = ['shop', 'north', 'south'];
export const writtenNames = ['one', 'two', 'three', 'four'];
/** The label of random roles and bindings. */
export const rightsLabel = 'example.com/random-rights';

const restartedAt = 'kubectl.kubernetes.io/restartedAt';
const rbacGroup = 'rbac.authorization.k8s.io';

/** A merge patch of the object or of a subresource; a JSON patch is a list. */
interface ObjectPatch {
  readonly format: PatchFormat;
  readonly subresource: 'status' | 'scale' | null;
  readonly body: unknown;
}

/** One write, for GraphQL and for kubectl. */
export interface CallerWrite {
  readonly verb: WriteVerb;
  readonly kind: WrittenKind;
  readonly namespace: string | null;
  readonly name: string;
  readonly path: string;
  readonly manifest: Readonly<Record<string, unknown>>;
  /** Of apply. */
  readonly force: boolean;
  /** The patch that the verb sends; null for one that sends none. */
  readonly patch: ObjectPatch | null;
  /** What is read first, as the caller. */
  readonly reads: readonly ('object' | OwnRevisions['plural'])[];
  /** Of revert: the state that is wanted. */
  readonly state: ReadObject | null;
  /** Of rollback: an object that must be there before. */
  readonly revision: OwnRevisions | null;
  /** The arguments of the mutation. */
  readonly args: Readonly<Record<string, unknown>>;
  /** Does an object, or its absence, show that the write was done? */
  isDoneIn(object: ReadObject | null): boolean;
}

/** A revision of a workload, as its controller makes it. */
export interface OwnRevisions {
  readonly plural: 'replicasets' | 'controllerrevisions';
  readonly selector: string;
  readonly body: object;
}

export interface ReadObject {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly uid: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: {
    readonly replicas?: number;
    readonly unschedulable?: boolean;
    readonly template?: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } };
  };
  readonly status?: { readonly replicas?: number };
}

const verbs: readonly WriteVerb[] = [
  ...(['apply', 'create', 'patch', 'delete', 'scale', 'restart', 'cordon', 'evict'] as const),
  ...(['patch', 'patch', 'edit', 'revert', 'rollback', 'rollback'] as const),
];

/**
 * A write that fits the object as it is: most creations are of absent objects, most other writes of present ones.
 * @param serial is another number for each write
 * @param read gives the object at a path as it is now
 * @param statesOf gives the states that an object has had
 * @param taken has the paths that the write must not have
 */
export async function randomCallerWrite(
  dice: Dice,
  cluster: string,
  serial: number,
  read: (path: string) => Promise<ReadObject | null>,
  statesOf: (path: string) => readonly ReadObject[],
  taken: ReadonlySet<string>,
): Promise<{ readonly write: CallerWrite; readonly before: ReadObject | null }> {
  let verb = dice.pick(verbs);
  for (let attempt = 1; ; attempt += 1) {
    // Perhaps no object is left that fits.
    if (attempt % 100 === 0) verb = dice.pick(verbs);
    const own = writtenKinds.filter((kind) => kind.verbs.includes(verb));
    const kind = dice.pick(own.length === 0 ? writtenKinds : own);
    const namespace = kind.namespaced ? dice.pick(writtenNamespaces) : null;
    const name = dice.pick(writtenNames);
    const path = resourcePath(kind, namespace ?? undefined, name);
    const isUsual = dice.chance(0.9);
    if (taken.has(path)) continue;
    const before = await read(path);
    const chosen = { verb, kind, namespace, name, path, serial, before, state: null };
    if (verb === 'revert') {
      // Portolan holds no values of Secrets.
      const states = kind.plural === 'secrets' ? [] : statesOf(path).filter((state) => isOther(state, before));
      if (states.length > 0) return { write: writeOf(dice, cluster, { ...chosen, state: dice.pick(states) }), before };
      continue;
    }
    // These read the object first, so without one they send nothing that writes.
    const isReadFirst = verb === 'evict' || verb === 'edit' || verb === 'rollback';
    const fits = verb === 'apply' || (before === null) === (verb === 'create') || (!isUsual && !isReadFirst);
    if (fits) return { write: writeOf(dice, cluster, chosen), before };
  }
}

/** Does another write show which of both states an object has? */
function isOther(state: ReadObject, now: ReadObject | null): boolean {
  return state.metadata.annotations?.[valueAnnotation] !== now?.metadata.annotations?.[valueAnnotation];
}

interface Chosen extends Pick<CallerWrite, 'verb' | 'kind' | 'namespace' | 'name' | 'path' | 'state'> {
  readonly serial: number;
  readonly before: ReadObject | null;
}

function writeOf(dice: Dice, cluster: string, { serial, before, ...chosen }: Chosen): CallerWrite {
  const { verb, kind, namespace, name } = chosen;
  const value = `value-${serial}`;
  const manifest = writtenManifest(kind, namespace, name, value);
  const id = encodeObjectId({ cluster, key: resourceKey(kind), namespace, name });
  const targets = dice.chance(0.3) ? { docs: [{ json: manifest }] } : { objects: [{ id }] };
  const force = dice.chance(0.8);
  const hasValue = (object: ReadObject | null): boolean => object?.metadata.annotations?.[valueAnnotation] === value;
  const common = { ...chosen, manifest, force, patch: null, reads: [], revision: null };
  const merge = (body: object, subresource: 'scale' | null = null): ObjectPatch => ({
    ...{ format: 'MERGE', subresource, body },
  });
  switch (verb) {
    case 'apply':
      return { ...common, args: { docs: [{ json: manifest }], force }, isDoneIn: hasValue };
    case 'create':
      return { ...common, args: { docs: [{ json: manifest }] }, isDoneIn: hasValue };
    case 'delete':
    case 'evict':
      return { ...common, args: { targets }, isDoneIn: (object) => object === null };
    case 'scale': {
      const replicas = (before?.spec?.replicas ?? 0) + dice.between(1, 3);
      const isDoneIn = (object: ReadObject | null) => object?.spec?.replicas === replicas;
      return { ...common, patch: merge({ spec: { replicas } }, 'scale'), args: { targets, replicas }, isDoneIn };
    }
    case 'restart': {
      // The time is another one for each write.
      const hex = (1_700_000_000_000 + serial * 1000).toString(16).padStart(12, '0');
      const requestId = `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
      const at = new Date(Number.parseInt(hex, 16)).toISOString().replace('.000Z', 'Z');
      const patch = merge({ spec: { template: { metadata: { annotations: { [restartedAt]: at } } } } });
      const isDoneIn = (object: ReadObject | null) =>
        object?.spec?.template?.metadata.annotations?.[restartedAt] === at;
      return { ...common, patch, args: { targets, options: { requestId } }, isDoneIn };
    }
    case 'cordon': {
      const on = before?.spec?.unschedulable !== true;
      const isDoneIn = (object: ReadObject | null) => (object?.spec?.unschedulable ?? false) === on;
      return {
        ...common,
        patch: merge({ spec: { unschedulable: on ? true : null } }),
        args: { targets, on },
        isDoneIn,
      };
    }
    case 'edit': {
      // An editor is not shown the data of a Secret.
      const base = kind.plural === 'secrets' ? { ...before, data: undefined } : { ...before };
      const metadata = { ...before?.metadata };
      const edited = {
        ...base,
        metadata: { ...metadata, annotations: { ...metadata.annotations, [valueAnnotation]: value } },
      };
      const patch: ObjectPatch = { format: 'JSON', subresource: null, body: valueOperations(value) };
      const args = { target: { id }, base: { json: base }, edited: { json: edited } };
      return { ...common, patch, reads: ['object'], args, isDoneIn: hasValue };
    }
    case 'revert': {
      const { resourceVersion, annotations } = must(chosen.state, 'the state of a revert').metadata;
      const then = annotations?.[valueAnnotation] ?? '';
      const patch: ObjectPatch = { format: 'JSON', subresource: null, body: valueOperations(then) };
      return {
        ...common,
        // A deleted object is created again.
        patch: before === null ? null : patch,
        reads: ['object'],
        args: { target: { id }, to: { resourceVersion } },
        isDoneIn: (object) => object?.metadata.annotations?.[valueAnnotation] === then,
      };
    }
    case 'rollback': {
      const annotation = { metadata: { annotations: { [restartedAt]: value } } };
      const revision = revisionOf(kind, name, value, must(before, 'the object of a rollback'));
      return {
        ...common,
        patch: merge({ spec: { template: annotation } }),
        reads: ['object', revision.plural],
        revision,
        args: { target: { id }, revision: serial },
        isDoneIn: (object) => object?.spec?.template?.metadata.annotations?.[restartedAt] === value,
      };
    }
    case 'patch': {
      const { patch, isDoneIn } = patchOf(dice, kind, value, before);
      const { format: type, subresource, body } = patch;
      return { ...common, patch, args: { target: { id }, type, subresource, patch: body }, isDoneIn };
    }
  }
}

/** The revision whose number is the serial of the write. Its Pod template has the value. */
function revisionOf(kind: WrittenKind, name: string, value: string, { metadata, spec }: ReadObject): OwnRevisions {
  const apiVersion = 'apps/v1';
  const number = value.replace('value-', '');
  const labels = { app: name };
  const owner = { apiVersion, kind: kind.kind, name, uid: metadata.uid, controller: true };
  const template = { ...spec?.template, metadata: { labels, annotations: { [restartedAt]: value } } };
  const head = { name: `${name}-${number}`, labels, ownerReferences: [owner] };
  const selector = `app=${name}`;
  if (kind.kind === 'Deployment') {
    const annotations = { 'deployment.kubernetes.io/revision': number };
    const body = {
      ...{ apiVersion, kind: 'ReplicaSet', metadata: { ...head, annotations } },
      spec: { replicas: 0, selector: { matchLabels: labels }, template },
    };
    return { plural: 'replicasets', selector, body };
  }
  const data = { spec: { template: { $patch: 'replace', ...template } } };
  const body = { apiVersion, kind: 'ControllerRevision', metadata: head, revision: Number(number), data };
  return { plural: 'controllerrevisions', selector, body };
}

function patchOf(
  dice: Dice,
  kind: WrittenKind,
  value: string,
  before: ReadObject | null,
): { readonly patch: ObjectPatch } & Pick<CallerWrite, 'isDoneIn'> {
  if (kind.hasReplicas && dice.chance(0.3)) {
    const replicas = (before?.status?.replicas ?? 0) + 1;
    return {
      patch: { format: 'MERGE', subresource: 'status', body: { status: { replicas } } },
      isDoneIn: (object) => object?.status?.replicas === replicas,
    };
  }
  const format = dice.pick(kind.isCustom ? (['MERGE', 'JSON'] as const) : (['MERGE', 'JSON', 'STRATEGIC'] as const));
  const body = format === 'JSON' ? valueOperations(value) : { metadata: { annotations: { [valueAnnotation]: value } } };
  return {
    patch: { format, subresource: null, body },
    isDoneIn: (object) => object?.metadata.annotations?.[valueAnnotation] === value,
  };
}

function valueOperations(value: string): readonly object[] {
  return [{ op: 'add', path: `/metadata/annotations/${valueAnnotation.replace('/', '~1')}`, value }];
}

/** Random roles and bindings of the users, their groups and the service account. @param round is a part of their names */
export function randomRights(dice: Dice, round: number): readonly object[] {
  const groups = [...new Set(writingUsers.flatMap((each) => each.groups)), 'system:serviceaccounts:shop'];
  const [, , space = '', account = ''] = robot.split(':');
  const subjects: readonly object[] = [
    ...writingUsers.map(({ user: name }) => ({ apiGroup: rbacGroup, kind: 'User', name })),
    ...groups.map((name) => ({ apiGroup: rbacGroup, kind: 'Group', name })),
    { kind: 'ServiceAccount', namespace: space, name: account },
  ];
  return subjects.flatMap((subject, index) =>
    dice
      .times(dice.between(1, 3), () => null)
      .flatMap((_, part) => {
        const name = `r-${round}-${index}-${part}`;
        const [roleSpace, bindingSpace] = dice.pick([
          ['', ''],
          ['', dice.pick(writtenNamespaces)],
          ...writtenNamespaces.map((each) => [each, each]),
        ] as const);
        const head = (kind: string, namespace: string) => ({
          ...{ apiVersion: `${rbacGroup}/v1`, kind: namespace === '' ? `Cluster${kind}` : kind },
          metadata: { name, labels: { [rightsLabel]: 'yes' }, ...(namespace === '' ? {} : { namespace }) },
        });
        const role = head('Role', must(roleSpace, 'the namespace of a role'));
        const binding = head('RoleBinding', must(bindingSpace, 'the namespace of a binding'));
        return [
          { ...role, rules: dice.times(dice.between(2, 4), () => randomRule(dice)) },
          { ...binding, roleRef: { apiGroup: rbacGroup, kind: role.kind, name }, subjects: [subject] },
        ];
      }),
  );
}

function randomRule(dice: Dice): object {
  const plurals = [...writtenKinds.map(({ plural }) => plural), 'replicasets', 'controllerrevisions'];
  const subresources = ['pods/eviction', 'deployments/scale', 'deployments/status', '*/scale', '*/status', 'pods/*'];
  const groups = [...new Set(writtenKinds.map(({ group }) => group))];
  return {
    verbs: dice.chance(0.1)
      ? ['*']
      : dice.sample(['create', 'patch', 'delete', 'get', 'update', 'list'], dice.between(1, 5)),
    apiGroups: dice.chance(0.7) ? ['*'] : dice.sample(groups, 2),
    resources: dice.chance(0.1)
      ? ['*']
      : [...dice.sample(plurals, dice.between(3, 8)), ...dice.sample(subresources, dice.below(4))],
    ...(dice.chance(0.25) ? { resourceNames: dice.sample(writtenNames, 2) } : {}),
  };
}
