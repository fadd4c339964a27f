/** Reads the documents of HTTP, event streams and WebSockets by src/graphql/document/documents.ts, which limits and charges them. */
import type { Plugin } from 'graphql-yoga';
import type { Documents } from '../../graphql/document/documents.ts';
import type { OperationContext } from '../../graphql/generation/generation.ts';
import type { CallerLimits } from '../../operation/caller-limits.ts';

export function useDocuments(documents: Documents, limits: Pick<CallerLimits, 'charge'>): Plugin<OperationContext> {
  return {
    onParse({ context, setParseFn }) {
      const { portolan, isCharged } = context as OperationContext & { readonly isCharged?: boolean };
      const charge = (values: number): void => limits.charge(portolan.caller, values);
      setParseFn((source) => documents.parse(source, isCharged === true ? null : charge));
    },
    onValidate({ setValidationFn }) {
      setValidationFn((schema, document) => documents.validate(schema, document));
    },
  };
}
