/** Claims and volumes: makes the claims of a StatefulSet's Pod, provisions and binds volumes, and removes those of deleted claims. */
import { asArray, asObject, asString, at, isObject, type JsonObject } from '../objects/json.ts';
import type { Stored } from '../objects/object-store.ts';
import { quantityOf } from '../resources/quantity.ts';
import { metadataOf } from '../resources/served-resource.ts';
import type { Controller } from '../world/controller-loop.ts';
import { isDeleting, type World } from '../world/world.ts';

const claims = 'persistentvolumeclaims';
const volumes = 'persistentvolumes';
const classes = 'storageclasses.storage.k8s.io';
const by = 'kube-controller-manager';

/** The claims of one Pod of a StatefulSet that are missing: their storage together, in thousandths of bytes. */
export function missingStorage(world: World, set: Stored, pod: string): number {
  return asArray(at(set.object, 'spec', 'volumeClaimTemplates'))
    .filter((template) => !world.get(claims, set.namespace, claimName(template, pod)))
    .reduce<number>((sum, template) => sum + quantityOf(at(template, 'spec', 'resources', 'requests', 'storage')), 0);
}

function claimName(template: unknown, pod: string): string {
  return `${asString(at(template, 'metadata', 'name'))}-${pod}`;
}

/** The claims of one Pod of a StatefulSet by the name of their volume; missing ones are created. */
export function claimsOfPod(world: World, set: Stored, pod: string, created?: string): Map<string, Stored> {
  const found = new Map<string, Stored>();
  for (const template of asArray(at(set.object, 'spec', 'volumeClaimTemplates')).filter(isObject)) {
    const volume = asString(at(template, 'metadata', 'name'));
    const name = claimName(template, pod);
    const metadata = {
      name,
      namespace: set.namespace,
      labels: asObject(at(set.object, 'spec', 'selector', 'matchLabels')),
      ...(created === undefined ? {} : { creationTimestamp: created }),
    };
    const claim =
      world.get(claims, set.namespace, name) ??
      world.create('', claims, { metadata, spec: asObject(template.spec) }, by);
    found.set(volume, claim);
  }
  return found;
}

/** Makes a volume for a claim and binds the two to each other; does nothing for a claim without a class. */
export function bindClaim(world: World, claim: Stored): void {
  const spec = asObject(claim.object.spec);
  const storageClassName = asString(spec.storageClassName);
  const found = storageClassName === '' ? undefined : world.get(classes, '', storageClassName);
  if (!found || asString(spec.volumeName) !== '') return;
  const capacity = asObject(at(spec, 'resources', 'requests'));
  const { creationTimestamp } = metadataOf(claim.object);
  const volume = world.create(
    '',
    volumes,
    {
      metadata: {
        name: `pvc-${claim.uid}`,
        creationTimestamp,
        annotations: { 'pv.kubernetes.io/provisioned-by': found.object.provisioner },
      },
      spec: {
        capacity,
        accessModes: spec.accessModes,
        claimRef: {
          apiVersion: 'v1',
          kind: 'PersistentVolumeClaim',
          namespace: claim.namespace,
          name: claim.name,
          uid: claim.uid,
        },
        persistentVolumeReclaimPolicy: found.object.reclaimPolicy,
        storageClassName,
        csi: { driver: found.object.provisioner, volumeHandle: claim.uid, fsType: 'ext4' },
      },
      status: { phase: 'Bound' },
    },
    'csi-provisioner',
  );
  world.patchSpec(claim, { volumeName: volume.name }, by);
  world.setStatus(claim, { phase: 'Bound', accessModes: spec.accessModes, capacity }, by);
}

/** Binds claims that have a class. */
export function claimController(world: World): Controller {
  return {
    name: 'claim',
    storage: claims,
    watches: { [classes]: () => world.list(claims).map(({ key }) => key) },
    reconcile: (claim) => {
      if (!isDeleting(claim)) bindClaim(world, claim);
    },
  };
}

/** Removes the volume of a deleted claim, or keeps it as Released when its class says Retain. */
export function volumeController(world: World): Controller {
  return {
    name: 'volume',
    storage: volumes,
    watches: {
      [claims]: ({ type, stored }) => {
        const name = asString(at(stored.object, 'spec', 'volumeName'));
        return type === 'DELETED' && name !== '' ? `/${name}` : undefined;
      },
    },
    reconcile: (volume) => {
      const claim: JsonObject = asObject(at(volume.object, 'spec', 'claimRef'));
      const name = asString(claim.name);
      if (name === '' || world.get(claims, asString(claim.namespace), name)?.uid === claim.uid) return;
      if (at(volume.object, 'spec', 'persistentVolumeReclaimPolicy') === 'Delete') world.delete(volume);
      else world.setStatus(volume, { phase: 'Released' }, by);
    },
  };
}
