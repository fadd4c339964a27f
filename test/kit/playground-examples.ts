/** The titles of the playground's examples, which are the names of their operations. */

/** The examples in schema/operations that read, in their order. */
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

/** The example of logs, after all others. */
export const logsTitle = 'FollowLogs';

/** The other examples of a gateway that writes, in their order, after those that read. */
export const writeTitles = ['PlanScale', 'CarryOutScale', 'SubmitApplication', 'ScaleToNone', logsTitle];

/** The examples of a gateway that serves ConfigMaps alone. */
export const configMapTitles = [
  'ConfigMapList',
  'WatchConfigMap',
  'Resources',
  'ConfigMapGroups',
  'FilterMenu',
  'WhatUsesConfigMap',
];
