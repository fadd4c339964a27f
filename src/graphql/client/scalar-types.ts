/**
 * The TypeScript type of each scalar's JSON values, in answers and in variables. Root `codegen.ts` and `portolan client-config --codegen`
 * use it. DateTime, Duration and Path are text; a quantity may be written as a number; Int64 beyond 2^53 - 1 is text.
 */
export const scalarTypes = {
  DateTime: 'string',
  Duration: 'string',
  Quantity: 'string | number',
  IntOrString: 'string | number',
  Int64: 'string | number',
  Path: 'string',
  JSON: 'unknown',
  StringMap: 'Record<string, string>',
  QuantityMap: 'Record<string, string | number>',
} as const;
