/** A write as data: what a caller wants done to one object. */
import { type Resource, resourceKey } from '../../catalog/resources/resource.ts';

export type Json = Readonly<Record<string, unknown>>;

/** The verbs of mutations. */
export type WriteVerb = WriteAction['verb'];

/** The effect of a deletion on the objects that the object owns (DeleteOptions.propagationPolicy). */
export type Propagation = 'BACKGROUND' | 'FOREGROUND' | 'ORPHAN';

/** The formats of PATCH bodies that callers choose. */
export type PatchFormat = 'MERGE' | 'JSON' | 'STRATEGIC';

/** The action, with all that it needs. A repeated action with the same members writes the same. */
export type WriteAction =
  /** Server-side apply. `force` takes fields from other managers. */
  | { readonly verb: 'apply'; readonly manifest: Json; readonly force: boolean }
  | { readonly verb: 'create'; readonly manifest: Json }
  | {
      readonly verb: 'patch';
      readonly format: PatchFormat;
      readonly patch: unknown;
      /** Such as `status`; null for the object itself. */
      readonly subresource: string | null;
    }
  | { readonly verb: 'delete'; readonly propagation: Propagation }
  | { readonly verb: 'scale'; readonly replicas: number }
  /** Sets the annotation of `kubectl rollout restart` to this time (RFC 3339). */
  | { readonly verb: 'restart'; readonly at: string }
  | { readonly verb: 'cordon'; readonly on: boolean }
  | { readonly verb: 'evict' }
  | UndoableAction;

/** Actions whose request depends on the object as it is (undo/concrete-write.ts). */
export type UndoableAction =
  /** Brings what differs between `base` and `edited` into the object. */
  | { readonly verb: 'edit'; readonly base: Json; readonly edited: Json }
  /** Makes the object what it was, or makes it again. */
  | {
      readonly verb: 'revert';
      readonly body: Json;
      /** Of the object that had the state. */
      readonly uid: string | null;
      /** The resourceVersion at which the object is still so; else null. */
      readonly unchangedAt: string | null;
      /** The same arguments mean the same state later. */
      readonly isFixed: boolean;
    }
  /** As `kubectl rollout undo`. `revision` null: the one before the newest. */
  | { readonly verb: 'rollback'; readonly revision: number | null };

/** The resource of a target, as an API server serves it. */
export type TargetResource = Pick<Resource, 'group' | 'version' | 'plural' | 'kind' | 'namespaced'>;

/** The object that is written. It need not exist, and its kind need not be ingested. */
export interface WriteTarget {
  readonly cluster: string;
  readonly resource: TargetResource;
  /** Null for cluster-scoped kinds. */
  readonly namespace: string | null;
  /** Null for an object whose name the API server makes (generateName). */
  readonly name: string | null;
  /** Where the caller's text has it, such as `docs[0], document 2, line 14`; null for a target by id or by query. */
  readonly place: string | null;
}

/** The state of the object in which it may be written; null members: any. */
export interface Preconditions {
  readonly uid: string | null;
  readonly resourceVersion: string | null;
  /** Operations `test` before those of a JSON patch (plan/tested-patch.ts). Absent: none. */
  readonly tests?: readonly Json[];
}

export interface WriteIntent {
  readonly target: WriteTarget;
  readonly action: WriteAction;
  readonly preconditions: Preconditions;
}

export const anyState: Preconditions = Object.freeze({ uid: null, resourceVersion: null });

/** The subresource that the action writes; null for the object itself. */
export function subresourceOf(action: WriteAction): string | null {
  switch (action.verb) {
    case 'patch':
      return action.subresource;
    case 'scale':
      return 'scale';
    case 'evict':
      return 'eviction';
    default:
      return null;
  }
}

/** The object in words, for messages: `deployments.apps web in the namespace shop of the cluster east`. */
export function nameOfTarget({ cluster, resource, namespace, name }: WriteTarget): string {
  const where = namespace === null ? '' : ` in the namespace ${namespace}`;
  return `${resourceKey(resource)} ${name ?? 'with a generated name'}${where} of the cluster ${cluster}`;
}

/** The workloads that replace their Pods. */
const restartable = ['deployments.apps', 'statefulsets.apps', 'daemonsets.apps'];

/** Why the verb does not fit the resource; null if it does. The API server would take some of these patches and do nothing useful. */
export function misfit({ verb }: WriteAction, resource: TargetResource): string | null {
  const key = resourceKey(resource);
  if (verb === 'restart' && !restartable.includes(key)) {
    return `restart is for Deployments, StatefulSets and DaemonSets, not for ${resource.kind}.`;
  }
  if (verb === 'rollback' && !restartable.includes(key)) {
    return `rollback is for Deployments, StatefulSets and DaemonSets, not for ${resource.kind}.`;
  }
  if (verb === 'cordon' && key !== 'nodes') return `cordon is for Nodes, not for ${resource.kind}.`;
  if (verb === 'evict' && key !== 'pods') return `evict is for Pods, not for ${resource.kind}.`;
  return null;
}
