/** `portolan crd`: the CustomResourceDefinition of AbstractKind objects, as YAML. */
import { standardOutput } from '../base/output/standard-streams.ts';
import { abstractKindCrdText } from '../catalog/abstract/abstract-kind-crd.ts';

export function crd(): number {
  standardOutput.write(abstractKindCrdText());
  return 0;
}
