/**
 * Options for YAML that kubectl may read. kubectl reads YAML 1.1: there, off is a boolean and 0777_1 is a number. Texts of these forms are
 * quoted. Lines are not folded.
 */
export const kubernetesYaml = { lineWidth: 0, compat: 'yaml-1.1' } as const;
