/** The columns of volumes, claims, classes and CSI drivers. */

import { list } from '../../base/json.ts';
import { type BuiltInColumn, column, since, wide } from './built-in-column.ts';
import { flag, isPresent, joined, joinedMembers, memberOf, presentOr, size, text } from './cell-values.ts';
import { age, createdAt, name } from './common-columns.ts';
import { defaultMark } from './default-mark.ts';

type Columns = readonly BuiltInColumn[];

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: 'RWO',
  ReadOnlyMany: 'ROX',
  ReadWriteMany: 'RWX',
  ReadWriteOncePod: 'RWOP',
};

/** `RWO,RWX`: each mode once, in one order. */
function accessModes(modes: unknown): string {
  return Object.entries(shortModes)
    .filter(([mode]) => list(modes).includes(mode))
    .map(([, short]) => short)
    .join(',');
}

/** The class of the annotation that came before the field, else the field's. */
const storageClass = column(
  'StorageClass',
  'string',
  'metadata.annotations spec.storageClassName',
  (annotations, className) => {
    const before = memberOf(annotations, 'volume.beta.kubernetes.io/storage-class');
    return text(isPresent(before) ? before : className);
  },
);

const attributesClass = since(
  'spec.volumeAttributesClassName',
  column('VolumeAttributesClass', 'string', 'spec.volumeAttributesClassName', presentOr('<unset>')),
);

const phase = column('Status', 'string', 'status.phase metadata.deletionTimestamp', (value, deletionTimestamp) =>
  isPresent(deletionTimestamp) ? 'Terminating' : text(value),
);

const volumeMode = wide(column('VolumeMode', 'string', 'spec.volumeMode', presentOr('<unset>')));

function capacity(value: unknown): string {
  return text(memberOf(value, 'storage')) || '0';
}

const volumes: Columns = [
  name,
  column('Capacity', 'string', 'spec.capacity', capacity),
  column('Access Modes', 'string', 'spec.accessModes', accessModes),
  column('Reclaim Policy', 'string', 'spec.persistentVolumeReclaimPolicy', text),
  phase,
  column('Claim', 'string', 'spec.claimRef', (claim) =>
    isPresent(claim) ? `${text(memberOf(claim, 'namespace'))}/${text(memberOf(claim, 'name'))}` : '',
  ),
  storageClass,
  attributesClass,
  column('Reason', 'string', 'status.reason', text),
  age,
  ...volumeMode,
];

/** A claim without a volume has neither capacity nor modes. */
const claims: Columns = [
  name,
  phase,
  column('Volume', 'string', 'spec.volumeName', text),
  column('Capacity', 'string', 'spec.volumeName status.capacity', (volume, value) =>
    text(volume) === '' ? '' : capacity(value),
  ),
  column('Access Modes', 'string', 'spec.volumeName status.accessModes', (volume, modes) =>
    text(volume) === '' ? '' : accessModes(modes),
  ),
  storageClass,
  attributesClass,
  age,
  ...volumeMode,
];

const classes: Columns = [
  defaultMark('storageclass.kubernetes.io/is-default-class', 'storageclass.beta.kubernetes.io/is-default-class'),
  column('Provisioner', 'string', 'provisioner', text),
  column('ReclaimPolicy', 'string', 'reclaimPolicy', presentOr('Delete')),
  column('VolumeBindingMode', 'string', 'volumeBindingMode', presentOr('Immediate')),
  column('AllowVolumeExpansion', 'boolean', 'allowVolumeExpansion', flag),
  age,
];

const attachments: Columns = [
  name,
  { ...column('Attacher', 'string', 'spec.attacher', text), format: 'name' },
  column('PV', 'string', 'spec.source.persistentVolumeName', text),
  column('Node', 'string', 'spec.nodeName', text),
  column('Attached', 'boolean', 'status.attached', flag),
  age,
];

const drivers: Columns = [
  name,
  column('AttachRequired', 'boolean', 'spec.attachRequired', (value) => !isPresent(value) || flag(value)),
  column('PodInfoOnMount', 'boolean', 'spec.podInfoOnMount', flag),
  column('StorageCapacity', 'boolean', 'spec.storageCapacity', flag),
  column('TokenRequests', 'string', 'spec.tokenRequests', (requests) =>
    isPresent(requests) ? joinedMembers('audience')(requests) : '<unset>',
  ),
  column('RequiresRepublish', 'boolean', 'spec.requiresRepublish', flag),
  column('Modes', 'string', 'spec.volumeLifecycleModes', (modes) => joined(modes) || '<none>'),
  age,
];

export const storageColumns: Readonly<Record<string, Columns>> = {
  persistentvolumes: volumes,
  persistentvolumeclaims: claims,
  'storageclasses.storage.k8s.io': classes,
  'volumeattributesclasses.storage.k8s.io': [name, column('DriverName', 'string', 'driverName', text), age],
  'volumeattachments.storage.k8s.io': attachments,
  'csidrivers.storage.k8s.io': drivers,
  'csinodes.storage.k8s.io': [name, column('Drivers', 'integer', 'spec.drivers', size), age],
  'csistoragecapacities.storage.k8s.io': [name, createdAt],
};
