/** A running gateway whose configuration file changes. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSimCluster } from '../../sim/sim-cluster.ts';
import { eventually } from '../kit/eventually.ts';
import { startGatewayProcess } from '../kit/gateway-process.ts';
import { ask } from '../kit/graphql-client.ts';
import { temporaryDirectory } from '../kit/temporary-directory.ts';

const expensive = '{ configMaps(first: 500) { nodes { metadata { name namespace uid } } } }';

test('live options have their new values, and the metrics name what needs a restart', async () => {
  const folder = temporaryDirectory('reload');
  const cluster = await startSimCluster({ objects: 'empty' });
  for (let index = 0; index < 100; index += 1) {
    cluster.create({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `map-${index}`, namespace: 'default' } });
  }
  const file = join(folder, 'portolan.yaml');
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, cluster.kubeconfig());
  const write = (more: string): void => writeFileSync(file, `kubeconfig: ${kubeconfig}\nkinds: [configmaps]\n${more}`);
  write('');
  const gateway = await startGatewayProcess(['--config', file]);
  try {
    expect(await ask(gateway.url, expensive)).not.toHaveProperty('errors');
    write('maxCost: 100\nreaders: 5\n');
    await eventually(async () => {
      const { errors } = await ask(gateway.url, expensive);
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_TOO_COSTLY' });
    });
    const metrics = await gateway.metrics();
    expect(metrics).toContain('portolan_config_restart_needed 1');
    expect(metrics).toContain('portolan_config_refused 0');
    expect(gateway.log.find(({ msg }) => msg.includes('after a restart'))).toMatchObject({ options: ['--readers'] });
    write('maxCost: nothing\n');
    await eventually(async () => expect(await gateway.metrics()).toContain('portolan_config_refused 1'));
    expect(await ask(gateway.url, expensive)).toHaveProperty('errors');
  } finally {
    await gateway.close();
    await cluster.close();
  }
});
