/**
 * Reviews: questions that are posted and answered at once, never stored. The simulated cluster knows one user, who may
 * do everything; what it is asked it answers in full shape, so that clients take the same path as with a real server.
 */
import { asObject, asString, type JsonObject } from '../json.ts';
import { apiVersionOf, type ServedResource } from './served-resource.ts';

const everything = { verbs: ['*'], apiGroups: ['*'], resources: ['*'] };

/** The review with its answer in `status`. With `knownToken`, only that token is anybody's; else every token is. */
export function answerReview(resource: ServedResource, review: JsonObject, knownToken?: string): JsonObject {
  const head = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata: asObject(review.metadata) };
  const spec = asObject(review.spec);
  switch (resource.kind) {
    case 'TokenReview': {
      const token = asString(spec.token);
      const user = {
        username: 'portolan-demo',
        uid: 'portolan-demo',
        groups: ['system:masters', 'system:authenticated'],
      };
      const good = token !== '' && (knownToken === undefined || token === knownToken);
      const status = good ? { authenticated: true, user } : { error: 'invalid bearer token', user: {} };
      return { ...head, spec, status };
    }
    case 'SelfSubjectRulesReview':
      return {
        ...head,
        spec,
        status: {
          incomplete: false,
          resourceRules: [everything],
          nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        },
      };
    default:
      return { ...head, spec, status: { allowed: true, reason: 'the simulated cluster allows everything' } };
  }
}
