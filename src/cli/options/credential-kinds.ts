/** The kinds of credentials that --auth names, and the resources that it needs. */
import { rbacKeys } from '../../access/rbac-objects.ts';
import type { CredentialKind } from '../../auth/access-control.ts';
import { PortolanError } from '../../base/errors.ts';
import { abstractKindObjectsKey } from '../../catalog/abstract/abstract-kind.ts';
import type { Config } from '../../config/options.ts';

/** Empty for a gateway without authentication. @throws PortolanError CONFIGURATION for `none` beside others. */
export function credentialKinds(auth: Config['auth']): readonly CredentialKind[] {
  const accepted = auth.filter((kind) => kind !== 'none');
  if (accepted.length > 0 && accepted.length < auth.length) {
    throw new PortolanError('CONFIGURATION', '--auth none stands alone; leave it out, or the other kinds.');
  }
  return accepted;
}

/** @throws PortolanError CONFIGURATION for --impersonate without callers, and where all callers would need it. */
export function refuseUnimpersonated(
  accepted: readonly CredentialKind[],
  { impersonate, secretData }: Pick<Config, 'impersonate' | 'secretData'>,
): void {
  if (impersonate !== 'off' && accepted.length === 0) {
    throw new PortolanError(
      'CONFIGURATION',
      '--impersonate needs --auth: it sends requests in the name of known callers.',
    );
  }
  if (secretData === 'absent' || impersonate !== 'off' || accepted.length === 0 || accepted.includes('token')) return;
  throw new PortolanError(
    'CONFIGURATION',
    '--secret-data live sends requests in the name of callers who have no token: allow it with --impersonate constrained, or with classic for API servers before 1.36.',
  );
}

/**
 * The resourceKeys that are ingested whatever --kinds says: roles and bindings, if they decide what callers see, and objects that declare
 * abstract kinds.
 */
export function requiredKeys(
  accepted: readonly CredentialKind[],
  {
    authorizationMode,
    abstractKindObjects = [],
  }: Pick<Config, 'authorizationMode'> & { readonly abstractKindObjects?: readonly string[] },
): readonly string[] {
  return [
    ...(accepted.length > 0 && authorizationMode !== 'review' ? rbacKeys : []),
    ...(abstractKindObjects.length > 0 ? [abstractKindObjectsKey] : []),
  ];
}
