/** Typed documents from the example operations, for the tests: `npm run codegen`. */
import type { CodegenConfig } from '@graphql-codegen/cli';
import { scalarTypes } from './src/graphql/client/codegen-config.ts';

const config: CodegenConfig = {
  schema: 'schema/demo.graphql',
  documents: 'schema/operations/*.graphql',
  generates: {
    'test/generated/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        documentMode: 'string',
        enumType: 'const',
        onlyOperationTypes: true,
        useTypeImports: true,
        importExtension: '.ts',
        emitLegacyCommonJSImports: false,
        scalars: scalarTypes,
      },
    },
  },
};

export default config;
