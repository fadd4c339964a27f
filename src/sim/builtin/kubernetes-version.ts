/** The version of Kubernetes whose API the simulated cluster serves, as /version says it. */
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

/** The version as OpenAPI documents give it: without a patch. */
export const openApiVersion = `${versionInfo.major}.${versionInfo.minor}`;
