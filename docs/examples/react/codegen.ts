// Portolan for graphql-code-generator: typed documents by the client preset.
// Printed by `portolan client-config --codegen`; save it as codegen.ts in your application.
//
//   npm install --save-dev @graphql-codegen/cli @graphql-codegen/client-preset
//   npx graphql-codegen
//
// The schema is read from a running gateway. To generate without one, save it as a file and name that:
// `portolan schema > schema.graphql`, PORTOLAN_URL=schema.graphql.
import type { CodegenConfig } from '@graphql-codegen/cli';

const config: CodegenConfig = {
  schema: process.env['PORTOLAN_URL'] ?? 'http://127.0.0.1:4000/graphql',
  documents: ['src/**/*.{ts,tsx}', '!src/gql/**'],
  ignoreNoDocuments: true,
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { fragmentMasking: false },
      config: {
        // Values keep the form that Kubernetes writes, so no scalar needs a parser.
        scalars: {
          DateTime: 'string',
          Duration: 'string',
          Quantity: 'string | number',
          IntOrString: 'string | number',
          Int64: 'string | number',
          Path: 'string',
          JSON: 'unknown',
          StringMap: 'Record<string, string>',
          QuantityMap: 'Record<string, string | number>',
        },
        // Unions of texts instead of enums, so that the helpers of `client-config --apollo` and `--urql` take the generated types.
        enumType: 'const',
        // A gateway has thousands of types: only those that documents use are written.
        onlyOperationTypes: true,
        useTypeImports: true,
      },
    },
  },
};

export default config;
