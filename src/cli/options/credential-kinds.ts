/** The kinds of credentials that --auth names. */
import type { CredentialKind } from '../../auth/access-control.ts';
import { PortolanError } from '../../base/errors.ts';
import type { Config } from '../../config/options.ts';

/** Empty for a gateway without authentication. @throws PortolanError CONFIGURATION for `none` beside others. */
export function credentialKinds(auth: Config['auth']): readonly CredentialKind[] {
  const accepted = auth.filter((kind) => kind !== 'none');
  if (accepted.length > 0 && accepted.length < auth.length) {
    throw new PortolanError('CONFIGURATION', '--auth none stands alone; leave it out, or the other kinds.');
  }
  return accepted;
}
