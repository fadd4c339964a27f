/** The Kubernetes version of the simulated cluster, as served at /version. */
export const versionInfo = {
  major: '1',
  minor: '37',
  emulationMajor: '1',
  emulationMinor: '37',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '36',
  gitVersion: 'v1.37.2',
  gitCommit: '0000000000000000000000000000000000000000',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'go1.26.0',
  compiler: 'gc',
  platform: 'linux/amd64',
};

/** The version in OpenAPI documents, without the patch number. */
export const openApiVersion = `${versionInfo.major}.${versionInfo.minor}`;
