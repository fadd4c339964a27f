/** The titles of the playground's examples, which are the names of their operations. */

/** The examples in schema/operations, in their order. */
export const exampleTitles = [
  'AppInstances',
  'Applications',
  'TemplatesInUse',
  'CloudManagers',
  'FooTree',
  'NewestPods',
  'WaitingPods',
  'WatchPods',
  'Workloads',
  'Resources',
  'NodeLoad',
  'FilterMenu',
  'DeploymentsAndPods',
  'PodsByNode',
  'WhatUsesIt',
];

/** The examples of a gateway that serves ConfigMaps alone. */
export const configMapTitles = [
  'ConfigMapList',
  'WatchConfigMap',
  'Resources',
  'ConfigMapGroups',
  'FilterMenu',
  'WhatUsesConfigMap',
];
