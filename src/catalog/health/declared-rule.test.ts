import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { healthOf } from './health.ts';
import { healthRulesOf, readHealthRules } from './read-health-rules.ts';

const widget = { apiVersion: 'example.com/v1', kind: 'Widget' };
const names = { group: 'example.com', kind: 'Widget' };

/** The rules of a document for Widgets. */
function rulesOf(text: string, source: 'CONFIGURED' | 'SHIPPED' = 'CONFIGURED') {
  const read = readHealthRules(parse(text), source);
  expect(read.problems).toEqual([]);
  return healthRulesOf([read], names);
}

const table = `
rules:
  - kind: Widget.example.com
    cases:
      - { status: Suspended, when: { spec.paused: true }, reason: PausedByUser }
      - { status: Failed, when: { status.health: [Broken, Lost] }, message: status.text }
      - { status: Failed, when: { "status.conditions[type=Synced].status": "False" } }
      - { status: InProgress, when: { status.ready: { lessThan: spec.replicas } }, reason: LessReady }
      - { status: InProgress, when: { "status.parts[].state": { startsWith: [Start, Wait] } }, reason: "status.parts[0].state" }
      - { status: Current, when: { status.health: { exists: true, not: [Odd] } } }
`;

describe('a declared rule', () => {
  test.each([
    ['the first case', { spec: { paused: true }, status: { health: 'Broken' } }, ['Suspended', 'PausedByUser', null]],
    [
      'one of several texts, without case',
      { status: { health: 'bROKEN', text: 'The disk is gone.' } },
      ['Failed', 'BROKEN', 'The disk is gone.'],
    ],
    [
      'a condition',
      { status: { conditions: [{ type: 'Synced', status: 'False', reason: 'Denied', message: 'No right.' }] } },
      ['Failed', 'Denied', 'No right.'],
    ],
    [
      'a number below another',
      { spec: { replicas: 3 }, status: { ready: 2, health: 'ok' } },
      ['InProgress', 'LessReady', null],
    ],
    [
      'a text that writes a number is that number',
      { spec: { replicas: '3' }, status: { ready: '2e0' } },
      ['InProgress', 'LessReady', null],
    ],
    [
      'a text that is no number is 0',
      { spec: { replicas: 1 }, status: { ready: ' 7' } },
      ['InProgress', 'LessReady', null],
    ],
    ['an absent number is 0', { spec: { replicas: 1 } }, ['InProgress', 'LessReady', null]],
    [
      'a path through a list',
      { status: { parts: [{ state: 'Done' }, { state: 'waiting for it' }] } },
      ['InProgress', 'Done', null],
    ],
    ['presence, and none of several texts', { status: { health: 'Fine' } }, ['Current', null, null]],
  ] as const)('%s', (_, body, [status, reason, message]) => {
    expect(healthOf({ ...widget, ...body }, rulesOf(table))).toEqual({ status, reason, message, source: 'CONFIGURED' });
  });

  test('falls through to the next place', () => {
    const rules = rulesOf(table);
    expect(healthOf({ ...widget, status: { health: 'Odd', phase: 'Creating' } }, rules)).toEqual({
      status: 'InProgress',
      reason: 'Creating',
      message: null,
      source: 'CONVENTION',
    });
    const ready = [{ type: 'Ready', status: 'False', reason: 'Wait' }];
    expect(healthOf({ ...widget, status: { health: 'Odd', conditions: ready } }, rules)).toMatchObject({
      status: 'InProgress',
      source: 'READY',
    });
  });

  test('comes behind deletion, generation and the conditions Reconciling and Stalled', () => {
    const rules = rulesOf(table);
    const broken = { status: { health: 'Broken' } };
    const deleted = { ...widget, ...broken, metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(healthOf(deleted, rules).source).toBe('DELETION');
    const unseen = { ...widget, metadata: { generation: 2 }, status: { health: 'Broken', observedGeneration: 1 } };
    expect(healthOf(unseen, rules).source).toBe('GENERATION');
    // The change that suspends an object is often not observed.
    expect(healthOf({ ...unseen, spec: { paused: true } }, rules)).toMatchObject({
      status: 'Suspended',
      source: 'CONFIGURED',
    });
    const stalled = { ...widget, status: { health: 'Fine', conditions: [{ type: 'Stalled', status: 'True' }] } };
    expect(healthOf(stalled, rules)).toMatchObject({ status: 'Failed', source: 'RECONCILING' });
  });

  test('of the configuration comes before a shipped one, and before that of a built-in kind', () => {
    const rule = (kind: string, status: string) =>
      readHealthRules(
        { rules: [{ kind, cases: [{ status, when: { 'status.phase': 'X' } }] }] },
        status === 'Failed' ? 'SHIPPED' : 'CONFIGURED',
      );
    const pod = { group: '', kind: 'Pod' };
    const both = healthRulesOf([rule('Pod', 'Unknown'), rule('Pod', 'Failed')], pod);
    const body = { apiVersion: 'v1', kind: 'Pod', status: { phase: 'X' } };
    expect(healthOf(body, both)).toMatchObject({ status: 'Unknown', source: 'CONFIGURED' });
    expect(healthOf(body, healthRulesOf([rule('*', 'Failed')], pod))).toMatchObject({ source: 'SHIPPED' });
    expect(healthOf(body)).toMatchObject({ status: 'Unknown', reason: 'UnknownPhase', source: 'BUILT_IN' });
  });

  test('names one kind, or several with *', () => {
    const named = (kind: string) =>
      healthRulesOf(
        [readHealthRules({ rules: [{ kind, cases: [{ status: 'Failed', when: { a: 1 } }] }] }, 'SHIPPED')],
        names,
      ).length;
    expect(['Widget.example.com', 'widget.example.com', '*.example.com', '*', 'Widget.*'].map(named)).toEqual([
      1, 1, 1, 1, 1,
    ]);
    expect(['Widget', 'Widgets.example.com', 'Widget.example', '*.com.example'].map(named)).toEqual([0, 0, 0, 0]);
  });

  test('keeps at most 1,024 characters of a message and 256 of a reason', () => {
    const found = healthOf(
      { ...widget, status: { health: `${'x'.repeat(5000)}`, text: '😀'.repeat(2000) } },
      rulesOf(
        'rules: [{ kind: "*", cases: [{ status: Failed, when: { status.health: { exists: true } }, message: status.text }] }]',
      ),
    );
    expect(found.reason).toHaveLength(256);
    expect(found.message).toHaveLength(1024);
    expect(found.message?.isWellFormed()).toBe(true);
  });
});

describe('a wrong rule costs itself only', () => {
  const good = { kind: 'Good.example.com', cases: [{ status: 'Failed', when: { a: 1 } }] };
  test.each([
    ['no cases', { kind: 'Bad' }, 'cases'],
    ['an unknown status', { kind: 'Bad', cases: [{ status: 'Broken', when: { a: 1 } }] }, 'status'],
    ['a path that is none', { kind: 'Bad', cases: [{ status: 'Failed', when: { 'a..b': 1 } }] }, 'a..b'],
    ['a path into the health', { kind: 'Bad', cases: [{ status: 'Failed', when: { 'health.status': 1 } }] }, 'health'],
    ['no test', { kind: 'Bad', cases: [{ status: 'Failed', when: {} }] }, 'needs a path'],
    ['an unknown test', { kind: 'Bad', cases: [{ status: 'Failed', when: { a: { like: 'x' } } }] }, 'when'],
    ['a kind that is none', { kind: 'a b', cases: good.cases }, 'must be Kind'],
    ['a reason that is a sentence', { kind: 'Bad', cases: [{ ...good.cases[0], reason: 'It is bad' }] }, 'CamelCase'],
    ['a text', 'Bad', 'number 2'],
  ])('%s', (_, bad, message) => {
    const { rules, problems } = readHealthRules({ rules: [good, bad, good] }, 'CONFIGURED');
    expect(rules.map(({ kind }) => kind)).toEqual(['Good.example.com', 'Good.example.com']);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(message);
  });

  test.each([[5], ['x'], [[]], [{ rule: [] }], [{ rules: {} }]])('a document that is none: %j', (given) => {
    const { rules, problems } = readHealthRules(given, 'CONFIGURED');
    expect(rules).toEqual([]);
    expect(problems).toHaveLength(1);
  });

  test('an empty document has no rules', () => {
    expect(readHealthRules(null, 'CONFIGURED')).toEqual({ rules: [], problems: [] });
    expect(readHealthRules({ rules: null }, 'CONFIGURED')).toEqual({ rules: [], problems: [] });
  });

  test('whatever the document is, reading it and asking its rules never throws', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (given, body) => {
        healthOf(body, healthRulesOf([readHealthRules({ rules: [given] }, 'CONFIGURED')], names), widget);
        healthOf(body, rulesOf(table), widget);
      }),
    );
  });
});

describe('the convention', () => {
  const of = (status: unknown) => healthOf({ ...widget, status });
  test.each([
    [{ phase: 'Ready' }, 'Current', null],
    [{ state: 'RUNNING' }, 'Current', null],
    [{ phase: 'Not Ready' }, 'InProgress', 'NotReady'],
    [{ phase: 'in-progress' }, 'InProgress', 'InProgress'],
    [{ phase: 'Creating', state: 'failed' }, 'InProgress', 'Creating'],
    [{ phase: '', state: 'failed' }, 'Failed', 'Failed'],
    [{ state: 'Paused' }, 'Suspended', 'Paused'],
    [{ phase: 'Deleting' }, 'Terminating', null],
    [{ phase: 'Zymurgy' }, 'Unknown', 'Zymurgy'],
  ] as const)('%j', (status, wanted, reason) => {
    expect(of(status)).toMatchObject({ status: wanted, reason, source: 'CONVENTION' });
  });

  test('gives the text of status.message', () => {
    expect(of({ phase: 'Error', message: 'No space.' }).message).toBe('No space.');
  });

  test.each([[{ phase: { name: 'Failed' } }], [{ phase: 5 }], [{ phases: 'Failed' }], [null]])(
    'reads nothing else: %j',
    (status) => {
      expect(of(status)).toEqual({ status: 'Current', reason: null, message: null, source: 'DEFAULT' });
    },
  );

  test('comes behind the condition Ready, and is not for built-in kinds', () => {
    const conditions = [{ type: 'Ready', status: 'True' }];
    expect(of({ phase: 'Failed', conditions })).toMatchObject({ status: 'Current', source: 'READY' });
    expect(healthOf({ apiVersion: 'v1', kind: 'Namespace', status: { phase: 'Failed' } }).source).toBe('DEFAULT');
    const volume = { apiVersion: 'storage.k8s.io/v1', kind: 'VolumeAttachment', status: { phase: 'Failed' } };
    expect(healthOf(volume).source).toBe('DEFAULT');
    const foo = { apiVersion: 'samplecontroller.k8s.io/v1alpha1', kind: 'Foo', status: { phase: 'Failed' } };
    expect(healthOf(foo).source).toBe('CONVENTION');
  });
});
