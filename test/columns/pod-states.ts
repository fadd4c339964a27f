/** Pods in the states that their column Status tells apart, and in random ones. */
import fc from 'fast-check';
import { deleted, type Json, type KindState, states } from './kind-state.ts';

const oneContainer = { containers: [{ name: 'a', image: 'example.com/a:1' }] };
const twoContainers = { containers: [...oneContainer.containers, { name: 'b', image: 'example.com/b:2' }] };
const init = {
  ...twoContainers,
  initContainers: [
    { name: 'i', image: 'example.com/i:1' },
    { name: 'j', image: 'example.com/j:1' },
  ],
};

const time = '2026-01-02T03:04:05Z';
const ready = { type: 'Ready', status: 'True' };
const running = { running: { startedAt: time } };
const ended = (exitCode: number, more: Json = {}): Json => ({
  terminated: { exitCode, startedAt: time, finishedAt: time, ...more },
});
const waiting = (reason?: string): Json => ({ waiting: reason === undefined ? {} : { reason } });

/** The status of one container. */
function container(name: string, state: Json, more: Json = {}): Json {
  const own = { name, state, ready: false, restartCount: 0, image: 'example.com/x', imageID: '', lastState: {} };
  return { ...own, ...more };
}

function pod(spec: Json, phase: string, status: Json = {}): KindState['body'] {
  return { spec, status: { phase, ...status } };
}

const up = container('a', running, { ready: true });
const down = container('b', ended(1, { reason: 'Error' }));

export const podStates: readonly KindState[] = [
  ...states('', 'Pod', {
    untouched: { spec: oneContainer },
    pending: pod(oneContainer, 'Pending'),
    running: pod(oneContainer, 'Running', { conditions: [ready], containerStatuses: [up], podIP: '10.1.2.3' }),
    'half-ready': pod(twoContainers, 'Running', { containerStatuses: [up, down] }),
    crashing: pod(oneContainer, 'Running', {
      containerStatuses: [
        container('a', waiting('CrashLoopBackOff'), { restartCount: 7, lastState: ended(1, { reason: 'Error' }) }),
      ],
    }),
    restarted: pod(oneContainer, 'Running', { containerStatuses: [{ ...up, restartCount: 3, lastState: ended(0) }] }),
    pulling: pod(twoContainers, 'Pending', {
      containerStatuses: [container('a', waiting('ImagePullBackOff')), container('b', waiting('ContainerCreating'))],
    }),
    waits: pod(oneContainer, 'Pending', { containerStatuses: [container('a', waiting())] }),
    completed: pod({ ...oneContainer, restartPolicy: 'Never' }, 'Succeeded', {
      containerStatuses: [container('a', ended(0, { reason: 'Completed' }))],
    }),
    failed: pod({ ...oneContainer, restartPolicy: 'Never' }, 'Failed', {
      containerStatuses: [container('a', ended(3))],
    }),
    killed: pod(oneContainer, 'Running', { containerStatuses: [container('a', ended(137, { signal: 9 }))] }),
    evicted: pod(oneContainer, 'Failed', { reason: 'Evicted', message: 'The node was low on memory.' }),
    'completed-beside-ready': pod(twoContainers, 'Running', {
      conditions: [ready],
      containerStatuses: [container('a', ended(0, { reason: 'Completed' })), { ...up, name: 'b' }],
    }),
    'completed-beside-running': pod(twoContainers, 'Running', {
      containerStatuses: [container('a', ended(0, { reason: 'Completed' })), { ...up, name: 'b' }],
    }),
    'init-first': pod(init, 'Pending', {
      initContainerStatuses: [container('i', running), container('j', waiting('PodInitializing'))],
    }),
    'init-second': pod(init, 'Pending', {
      initContainerStatuses: [container('i', ended(0, { reason: 'Completed' })), container('j', running)],
    }),
    'init-crashing': pod(init, 'Pending', {
      initContainerStatuses: [
        container('i', waiting('CrashLoopBackOff'), { restartCount: 4, lastState: ended(2) }),
        container('j', waiting('PodInitializing')),
      ],
    }),
    'init-error': pod(init, 'Pending', { initContainerStatuses: [container('i', ended(1, { reason: 'Error' }))] }),
    'init-code': pod(init, 'Pending', { initContainerStatuses: [container('i', ended(42))] }),
    'init-signal': pod(init, 'Pending', { initContainerStatuses: [container('i', ended(1, { signal: 15 }))] }),
    'init-done': pod(init, 'Running', {
      conditions: [{ type: 'Initialized', status: 'True' }, ready],
      initContainerStatuses: [
        container('i', ended(0, { reason: 'Completed' }), { restartCount: 2 }),
        container('j', ended(0, { reason: 'Completed' })),
      ],
      containerStatuses: [up, { ...up, name: 'b' }],
    }),
    'on-node': pod({ ...oneContainer, nodeName: 'node-1' }, 'Running', {
      podIP: '10.0.0.9',
      podIPs: [{ ip: '10.0.0.9' }, { ip: 'fd00::9' }],
    }),
    nominated: pod(oneContainer, 'Pending', { nominatedNodeName: 'node-2' }),
    gates: pod({ ...oneContainer, readinessGates: [{ conditionType: 'g/a' }, { conditionType: 'g/b' }] }, 'Running', {
      conditions: [{ type: 'g/a', status: 'True' }, { type: 'g/b', status: 'False' }, ready],
      containerStatuses: [up],
    }),
  }),
  ...deleted(
    states('', 'Pod', {
      terminating: pod({ ...oneContainer, nodeName: 'node-1' }, 'Running', { containerStatuses: [up] }),
      lost: pod({ ...oneContainer, nodeName: 'node-1' }, 'Running', { reason: 'NodeLost', containerStatuses: [up] }),
    }),
  ),
];

/** What the old server shows in another way: gates of scheduling, sidecars, an error beside Completed, the end of deleted Pods. */
export const newPodStates: readonly KindState[] = [
  ...states('', 'Pod', {
    'completed-beside-error': pod(twoContainers, 'Running', {
      containerStatuses: [container('a', ended(0, { reason: 'Completed' })), container('b', ended(2))],
    }),
    gated: { spec: { ...oneContainer, schedulingGates: [{ name: 'example.com/gate' }] } },
    'init-done-again': pod(init, 'Running', {
      conditions: [{ type: 'Initialized', status: 'True' }, ready],
      initContainerStatuses: [container('i', running, { restartCount: 5 })],
      containerStatuses: [up],
    }),
    sidecar: pod(
      { ...oneContainer, initContainers: [{ name: 'i', image: 'example.com/i:1', restartPolicy: 'Always' }] },
      'Running',
      {
        conditions: [{ type: 'Initialized', status: 'True' }, ready],
        initContainerStatuses: [container('i', running, { ready: true, started: true, restartCount: 2 })],
        containerStatuses: [{ ...up, restartCount: 1, lastState: ended(1) }],
      },
    ),
  }),
  ...deleted(
    states('', 'Pod', {
      'completed-terminating': pod({ ...oneContainer, nodeName: 'node-1' }, 'Succeeded', {
        containerStatuses: [container('a', ended(0, { reason: 'Completed' }))],
      }),
    }),
  ),
];

/** `isNew`: with the reasons and conditions that an old server does not regard. */
function randomStatus(isNew: boolean): fc.Arbitrary<Json> {
  const reasons = fc.constantFrom(
    ...['', 'Error', 'OOMKilled', 'PodInitializing', 'CrashLoopBackOff'],
    ...(isNew ? ['Completed'] : []),
  );
  const state = fc.oneof(
    fc.constant(running),
    reasons.map((reason) => ({ waiting: reason === '' ? {} : { reason } })),
    fc
      .record({ exitCode: fc.constantFrom(0, 0, 1, 137), signal: fc.constantFrom(0, 0, 9), reason: reasons })
      .map(({ exitCode, signal, reason }) =>
        ended(exitCode, { ...(signal === 0 ? {} : { signal }), ...(reason === '' ? {} : { reason }) }),
      ),
  );
  const one = fc.record({
    state,
    ready: fc.boolean(),
    started: fc.boolean(),
    restartCount: fc.constantFrom(0, 0, 1, 12),
    lastState: fc.constantFrom({}, ended(1)),
  });
  const containers = (names: readonly string[]): fc.Arbitrary<readonly Json[]> =>
    fc
      .array(one, { maxLength: names.length })
      .map((all) => all.map(({ state: now, ...more }, index) => container(names[index] ?? '', now, more)));
  const condition = fc.record({
    type: fc.constantFrom('Ready', 'PodScheduled', ...(isNew ? ['Initialized'] : [])),
    status: fc.constantFrom('True', 'False'),
    reason: fc.constantFrom('', ...(isNew ? ['SchedulingGated'] : [])),
  });
  return fc.record({
    phase: fc.constantFrom('Pending', 'Running', 'Succeeded', 'Failed', 'Unknown'),
    reason: fc.constantFrom('', '', '', 'Evicted', 'NodeLost'),
    conditions: fc.uniqueArray(condition, { selector: ({ type }) => type, maxLength: 3 }),
    initContainerStatuses: containers(['i', 'j']),
    containerStatuses: containers(['a', 'b']),
  });
}

/** Random Pods, the same for a seed. On a new server, one of two has a sidecar. */
export function randomPods(count: number, seed: number, isNew: boolean): readonly KindState[] {
  const [first, second] = init.initContainers;
  const sidecar = { ...init, initContainers: [{ ...first, restartPolicy: 'Always' }, second] };
  return fc.sample(randomStatus(isNew), { numRuns: count, seed }).map((status, index) => ({
    group: '',
    kind: 'Pod',
    name: `random-${index}`,
    body: { spec: isNew && index % 2 === 0 ? sidecar : init, status },
  }));
}
