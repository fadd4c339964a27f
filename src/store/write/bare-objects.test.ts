/** Objects without a uid and resourceVersion of their own keep their received text in a relist. */
import { expect, test } from 'vitest';
import { describedResource, storeFile } from '../../../test/kit/store-file.ts';
import { openWriter } from './writer.ts';

test.each([2000, 0])(
  'a change of a bare object is taken with what it is known by (up to %i differences)',
  async (maxDifferences) => {
    const writer = openWriter(storeFile(), { maxDifferences });
    writer.openCluster('east', 'uid');
    const handle = writer.declare(
      describedResource({ plural: 'componentstatuses', kind: 'ComponentStatus', promoted: [] }),
    );
    const listed = (state: string, version: string) => ({
      text: JSON.stringify({ metadata: { name: 'etcd-0' }, state }),
      uid: '/etcd-0',
      resourceVersion: version,
    });
    for (const [state, version] of [
      ['Healthy', 'digest-a'],
      ['Sick', 'digest-b'],
      ['Sick', 'digest-b'],
    ] as const) {
      const replace = writer.replace(handle);
      replace.put([listed(state, version)]);
      await replace.commit('1');
    }
    expect(writer.state(handle).objects).toBe(1);
    writer.close();
  },
);
