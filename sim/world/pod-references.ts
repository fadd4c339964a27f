/** What a Pod mentions in its namespace, and which of it a kubelet needs and does not find. */
import { asArray, asObject, asString, isObject, type JsonObject } from '../objects/json.ts';
import type { World } from './world.ts';

interface PodReference {
  readonly storage: 'configmaps' | 'secrets' | 'persistentvolumeclaims' | 'serviceaccounts';
  readonly name: string;
  /** The volume that mentions it; undefined for a variable, a pull secret or the service account. */
  readonly volume: string | undefined;
  /** Whether the Pod starts without it. */
  readonly optional: boolean;
}

const kinds = { configmaps: 'configmap', secrets: 'secret', persistentvolumeclaims: '', serviceaccounts: '' } as const;

/** Everything that a pod spec mentions by name in its own namespace. */
function podReferences(spec: JsonObject): PodReference[] {
  const found: PodReference[] = [];
  const add = (storage: PodReference['storage'], source: unknown, key: string, volume?: string, free = false): void => {
    const name = asString(asObject(source)[key]);
    if (name !== '') found.push({ storage, name, volume, optional: free || asObject(source).optional === true });
  };
  add('serviceaccounts', spec, 'serviceAccountName', undefined, true);
  for (const secret of asArray(spec.imagePullSecrets)) add('secrets', secret, 'name', undefined, true);
  for (const item of asArray(spec.volumes).filter(isObject)) {
    const volume = asString(item.name);
    add('configmaps', item.configMap, 'name', volume);
    add('secrets', item.secret, 'secretName', volume);
    add('persistentvolumeclaims', item.persistentVolumeClaim, 'claimName', volume);
    for (const source of asArray(asObject(item.projected).sources).filter(isObject)) {
      add('configmaps', source.configMap, 'name', volume);
      add('secrets', source.secret, 'name', volume);
    }
  }
  for (const container of [...asArray(spec.initContainers), ...asArray(spec.containers)].filter(isObject)) {
    for (const source of asArray(container.envFrom).filter(isObject)) {
      add('configmaps', source.configMapRef, 'name');
      add('secrets', source.secretRef, 'name');
    }
    for (const variable of asArray(container.env).filter(isObject)) {
      const from = asObject(variable.valueFrom);
      add('configmaps', from.configMapKeyRef, 'name');
      add('secrets', from.secretKeyRef, 'name');
    }
  }
  return found;
}

/** Why a kubelet cannot start the containers of a Pod. */
interface StartProblem {
  /** `mount`: a volume lacks its source. `config`: a variable does. */
  readonly kind: 'mount' | 'config';
  readonly message: string;
  /** As the Event says it. */
  readonly note: string;
}

/** The first thing that a kubelet needs and does not find; volumes come first. */
export function startProblem(world: World, namespace: string, spec: JsonObject): StartProblem | undefined {
  const missing = podReferences(spec).filter(
    ({ optional, storage, name }) => !optional && !world.get(storage, namespace, name),
  );
  const first = missing.find(({ volume }) => volume !== undefined) ?? missing[0];
  if (!first) return undefined;
  const message = `${kinds[first.storage]} "${first.name}" not found`;
  return first.volume === undefined
    ? { kind: 'config', message, note: `Error: ${message}` }
    : { kind: 'mount', message, note: `MountVolume.SetUp failed for volume "${first.volume}" : ${message}` };
}
