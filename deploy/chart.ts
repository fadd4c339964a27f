/**
 * `npm run chart`: writes the files of the Helm chart that are made from code, and deploy/install.yaml if helm is there.
 * To accept changed renders as well: `npx vitest run test/chart -u`.
 */
import { writeFileSync } from 'node:fs';
import { messageOf } from '../src/base/errors.ts';
import { chartFiles, chartFolder } from './chart-source/chart-files.ts';
import { findHelm } from './chart-source/find-helm.ts';
import { installManifest, installPath } from './chart-source/install-manifest.ts';

try {
  for (const { path, text } of chartFiles()) writeFileSync(new URL(path, chartFolder), text);
  const helm = await findHelm();
  if (helm.path === null) process.stdout.write(`deploy/install.yaml stays as it is: ${helm.reason}\n`);
  else writeFileSync(installPath, await installManifest(helm.path));
} catch (error) {
  process.stderr.write(`chart: ${messageOf(error)}\n`);
  process.exitCode = 1;
}
