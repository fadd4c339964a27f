import { expect, test } from 'vitest';
import { describedPods } from '../../../test/kit/reflector-bench.ts';
import { silentLogger } from '../../base/log.ts';
import type { Resource } from '../../catalog/resources/resource.ts';
import type { RestClient } from '../../kube/client/rest-client.ts';
import { ApiError } from '../../kube/http/api-error.ts';
import type { KnownVersion } from '../reflector/reflector-set.ts';
import { RewindGuard } from './rewind-guard.ts';

function known(plural: string, resourceVersion: string, group = ''): KnownVersion {
  const resource: Resource = { ...describedPods().resource, plural, group };
  return { resource, namespace: '', resourceVersion };
}

/** A guard of a server whose collections have these versions; a number is an error status. Records the requests. */
function setUp(versions: Readonly<Record<string, string | number>>) {
  const asked: string[] = [];
  const get = async (path: string, options: { query?: unknown } = {}): Promise<unknown> => {
    const plural = path.split('/').at(-1) ?? '';
    asked.push(`${plural} ${JSON.stringify(options.query)}`);
    const version = versions[plural];
    if (typeof version !== 'number') return { metadata: { resourceVersion: version } };
    throw new ApiError({ code: 'UPSTREAM_UNAVAILABLE', httpStatus: version, reason: 'No', message: 'no' });
  };
  const guard = new RewindGuard({ get: get as RestClient['get'] }, silentLogger);
  const { signal } = new AbortController();
  return { asked, wentBack: (...all: readonly KnownVersion[]) => guard.wentBack(all, signal) };
}

test('R16: where all is well one small list is asked for, without a version', async () => {
  const { asked, wentBack } = setUp({ namespaces: '100' });
  expect(await wentBack(known('pods', '99'), known('namespaces', '90'))).toBe(false);
  expect(asked).toEqual(['namespaces {"limit":1}']);
});

test('F20: the small collection below its own version is proof enough', async () => {
  const { asked, wentBack } = setUp({ namespaces: '100' });
  expect(await wentBack(known('namespaces', '1000'))).toBe(true);
  expect(asked).toHaveLength(1);
});

test('F20: below the version of another collection is a hint, and that collection decides', async () => {
  const { asked, wentBack } = setUp({ namespaces: '95', pods: '96' });
  expect(await wentBack(known('namespaces', '9'), known('pods', '100'))).toBe(true);
  expect(asked).toEqual(['namespaces {"limit":1}', 'pods {"limit":1}']);
});

test('R16: a collection with a storage of its own is no alarm, and is asked about once', async () => {
  const { asked, wentBack } = setUp({ namespaces: '95', events: '5001' });
  const all = [known('namespaces', '90'), known('events', '5000')];
  expect(await wentBack(...all)).toBe(false);
  expect(await wentBack(...all)).toBe(false);
  expect(asked.map((text) => text.split(' ')[0])).toEqual(['namespaces', 'events', 'namespaces']);
});

test('F53: versions that cannot be compared, and those of other servers, say nothing', async () => {
  const { asked, wentBack } = setUp({ namespaces: '95', widgets: '1', pods: 'b' });
  expect(await wentBack(known('pods', 'c'))).toBe(false);
  expect(asked).toEqual([]);
  expect(await wentBack(known('namespaces', '90'), known('widgets', '5000', 'shop.example.com'))).toBe(false);
  expect(asked).toHaveLength(1);
});

test('R16: what is refused is no alarm; an outage is an error', async () => {
  expect(await setUp({ namespaces: 403 }).wentBack(known('namespaces', '90'))).toBe(false);
  await expect(setUp({ namespaces: 503 }).wentBack(known('namespaces', '90'))).rejects.toThrow('no');
});
