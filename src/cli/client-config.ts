/** `portolan client-config`: what an application needs to use this gateway. */
import { PortolanError } from '../base/errors.ts';
import { standardOutput } from '../base/output/standard-streams.ts';
import { apolloConfig, apolloTypes, urqlConfig, urqlTypes } from '../graphql/client/client-config.ts';
import { codegenConfig } from '../graphql/client/codegen-config.ts';

export interface ClientConfigFlags {
  readonly apollo?: boolean;
  readonly urql?: boolean;
  readonly codegen?: boolean;
  readonly types?: boolean;
}

/**
 * Prints one file to standard output.
 * @throws PortolanError CONFIGURATION unless exactly one file is named.
 */
export function clientConfig({ apollo, urql, codegen, types }: ClientConfigFlags): number {
  const named = [apollo, urql, codegen].filter((each) => each === true).length;
  if (named !== 1) {
    throw new PortolanError('CONFIGURATION', 'Say for what: portolan client-config --apollo, --urql or --codegen.');
  }
  if (types === true && codegen === true) {
    throw new PortolanError(
      'CONFIGURATION',
      'Give --types with --apollo or --urql; the codegen config has its types in itself.',
    );
  }
  const [module, declarations] = apollo === true ? [apolloConfig, apolloTypes] : [urqlConfig, urqlTypes];
  const print = codegen === true ? codegenConfig : types === true ? declarations : module;
  standardOutput.write(print());
  return 0;
}
