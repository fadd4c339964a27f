/**
 * A gateway of bench/router.ts.
 *
 *   argv: store file, first cluster, clusters, Pods of each -> the store is filled -> message: { url } -> disconnect
 */
import { openWriter } from '../src/store/write/writer.ts';
import { phaseOf, treedPods } from './support/list-query.ts';
import { podText } from './support/pods.ts';
import { serveStore } from './support/serve-store.ts';

const [file = '', ...numbers] = process.argv.slice(2);
const [first = 0, clusters = 0, each = 0] = numbers.map(Number);

const writer = openWriter(file, { checkpoints: 'inline' });
for (let number = first; number < first + clusters; number += 1) {
  const cluster = `cluster-${number}`;
  writer.openCluster(cluster, `uid-${cluster}`);
  const replace = writer.replace(writer.declare(treedPods(cluster)));
  for (let from = 0; from < each; from += 500) {
    const places = Array.from({ length: Math.min(500, each - from) }, (_, at) => number * each + from + at);
    replace.put(places.map((place) => ({ text: podText(place, phaseOf(place), place + 1) })));
  }
  await replace.commit(String((number + 1) * each));
}
const served = await serveStore(file, { prepared: true });
process.once('disconnect', async () => {
  await served.close();
  writer.close();
});
process.send?.({ url: served.url });
