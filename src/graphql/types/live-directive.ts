/** The directive of live queries. */
import {
  DirectiveLocation,
  GraphQLBoolean,
  GraphQLDirective,
  GraphQLInt,
  type GraphQLSchema,
  getDirectiveValues,
  getVariableValues,
  type OperationDefinitionNode,
} from 'graphql';
import { PortolanError } from '../../base/errors.ts';

/** Half a second. */
const defaultThrottle = 500;
const mostThrottle = 3_600_000;

export const liveDirective = new GraphQLDirective({
  name: 'live',
  description:
    'Over WebSocket or server-sent events, the query is answered at once, and again when its answer changes. Each answer is complete. Over other transports, the query is answered once.',
  locations: [DirectiveLocation.QUERY],
  args: {
    throttle: {
      type: GraphQLInt,
      defaultValue: defaultThrottle,
      description: 'The minimum time between two answers, in milliseconds.',
    },
    if: { type: GraphQLBoolean, defaultValue: true },
  },
});

/** Does the operation have the directive? It need not be live: `if` may be false. */
export function hasLive({ directives }: OperationDefinitionNode): boolean {
  return directives?.some(({ name }) => name.value === liveDirective.name) === true;
}

/**
 * The throttle of a live query in milliseconds; null for a query that is not live, and for one whose variables the executor refuses.
 * @param variables raw, as the request carries them.
 * @throws PortolanError BAD_USER_INPUT for a throttle that is out of range.
 */
export function liveThrottle(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode | null,
  variables: Readonly<Record<string, unknown>> | null | undefined,
): number | null {
  if (operation?.operation !== 'query' || !hasLive(operation)) return null;
  const { variableValues } = getVariableValues(schema, operation.variableDefinitions ?? [], variables ?? {});
  if (variableValues === undefined) return null;
  const values = getDirectiveValues(liveDirective, operation, variableValues);
  if (values?.['if'] === false) return null;
  const throttle = (values?.['throttle'] as number | null | undefined) ?? defaultThrottle;
  if (throttle >= 0 && throttle <= mostThrottle) return throttle;
  throw new PortolanError(
    'BAD_USER_INPUT',
    `@live(throttle: ${throttle}) is out of range; give 0 to ${mostThrottle} milliseconds.`,
  );
}
