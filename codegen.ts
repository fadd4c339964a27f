/** Typed documents from the example operations, for the tests: `npm run codegen`. */
import type { CodegenConfig } from '@graphql-codegen/cli';

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
        scalars: {
          DateTime: 'string',
          Duration: 'string',
          Quantity: 'string | number',
          IntOrString: 'string | number',
          Int64: 'string | number',
          Path: 'string',
          JSON: 'unknown',
          StringMap: 'Record<string, string>',
        },
      },
    },
  },
};

export default config;
