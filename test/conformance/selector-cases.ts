/** Selectors by label and by field. */
import { beforeAll, describe, expect, test } from 'vitest';
import { type ConformanceClient, makeNamespace, namesOf, query } from './conformance-client.ts';

export function selectorCases(client: () => ConformanceClient): void {
  describe('selectors', () => {
    let maps = '';
    let pods = '';
    beforeAll(async () => {
      const namespace = await makeNamespace(client(), 'c-selectors');
      maps = `${namespace}/configmaps`;
      pods = `${namespace}/pods`;
      for (const [name, labels] of Object.entries({
        a: { app: 'web', tier: 'front', size: '1' },
        b: { app: 'web', tier: 'back', size: '10' },
        c: { app: 'db', 'example.com/x': '' },
        d: {},
      }))
        await client().post(maps, { metadata: { name, labels: { here: 'yes', ...labels } } });
      for (const name of ['p', 'q'])
        await client().post(pods, {
          metadata: { name },
          spec: {
            ...(name === 'q' ? { nodeName: 'n1', restartPolicy: 'Never' } : {}),
            containers: [{ name: 'c', image: 'example/c:1' }],
          },
        });
    });

    test.each([
      ['app=web', 'ab'],
      ['app==web,tier=back', 'b'],
      ['app!=web', 'cd'],
      ['app in (web, db)', 'abc'],
      ['app in (web,db),tier notin (back)', 'ac'],
      ['app notin (web)', 'cd'],
      ['app', 'abc'],
      ['!app', 'd'],
      ['! app', 'd'],
      ['example.com/x=', 'c'],
      ['example.com/x', 'c'],
      ['tier in (front,)', 'a'],
      ['size>5', 'b'],
      ['size < 5', 'a'],
      ['app in ()', ''],
      ['app notin ()', 'abcd'],
      [' app = web , tier = front ', 'a'],
      ['', 'abcd'],
    ])('by label: %s', async (selector, expected) => {
      const labelSelector = selector === '' ? 'here=yes' : `here=yes,${selector}`;
      const reply = await client().get(maps + query({ labelSelector }));
      expect(reply.code, reply.text).toBe(200);
      expect(namesOf(reply).join('')).toBe(expected);
    });

    test.each(['a in b', 'a in (', 'a b', '=b', 'a=b=c', 'a$=b', 'a=b$', 'a,,b', 'size>x', '-a=b', 'a/b/c=d', '!a=b'])(
      'refuse the labels %s',
      async (labelSelector) => {
        const reply = await client().get(maps + query({ labelSelector }));
        expect(reply.code, reply.text).toBe(400);
      },
    );

    test.each([
      ['configmaps', 'metadata.name=a', 'a'],
      ['configmaps', 'metadata.name!=a,metadata.name!=kube-root-ca.crt', 'bcd'],
      ['configmaps', 'metadata.name==b,metadata.namespace=c-selectors', 'b'],
      ['configmaps', 'metadata.namespace=other', ''],
      ['pods', 'spec.nodeName=n1', 'q'],
      ['pods', 'spec.nodeName=', 'p'],
      ['pods', 'spec.nodeName!=n1', 'p'],
      ['pods', 'spec.restartPolicy=Never', 'q'],
      ['pods', 'status.phase=Pending', 'pq'],
      ['pods', 'status.phase!=Pending', ''],
      ['pods', 'spec.schedulerName=default-scheduler,spec.nodeName=n1', 'q'],
    ])('by field of %s: %s', async (plural, fieldSelector, expected) => {
      const reply = await client().get(maps.replace('configmaps', plural) + query({ fieldSelector }));
      expect(reply.code, reply.text).toBe(200);
      expect(namesOf(reply).join('')).toBe(expected);
    });

    test.each([
      ['configmaps', 'data.k=v'],
      ['configmaps', 'metadata.labels=v'],
      ['configmaps', 'metadata.name'],
      ['pods', 'spec.priority=1'],
      ['pods', 'spec.nodeName=a=b'],
    ])('refuse the fields of %s: %s', async (plural, fieldSelector) => {
      const reply = await client().get(maps.replace('configmaps', plural) + query({ fieldSelector }));
      expect(reply.body, reply.text).toMatchObject({ code: 400, reason: 'BadRequest' });
    });

    test('by fields of other kinds', async () => {
      const found = async (path: string, fieldSelector: string): Promise<unknown[]> =>
        namesOf(await client().get(path + query({ fieldSelector })));
      expect(await found('/api/v1/namespaces', 'metadata.name=c-selectors,status.phase=Active')).toEqual([
        'c-selectors',
      ]);
      const secrets = maps.replace('configmaps', 'secrets');
      await client().post(secrets, { metadata: { name: 's' }, type: 'example.com/t' });
      expect(await found(secrets, 'type=example.com/t')).toEqual(['s']);
      const events = maps.replace('configmaps', 'events');
      await client().post(events, {
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', name: 'p', namespace: 'c-selectors' },
        reason: 'Why',
        type: 'Normal',
      });
      expect(await found(events, 'involvedObject.name=p,reason=Why')).toEqual(['e']);
    });
  });
}
