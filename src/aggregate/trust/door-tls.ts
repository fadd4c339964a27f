/** The TLS of the door: its certificate with the key, and the authority of the aggregator from the cluster. Both may change. */
import type { TlsFiles, TlsMaterial } from '../../server/negotiation/tls-files.ts';
import type { TlsSource } from '../../server/negotiation/tls-server.ts';
import type { ExtensionAuthentication } from './extension-authentication.ts';

/** @param own the certificate and its key; who has opened it ends its watch. */
export function doorTls(
  own: Pick<TlsFiles, 'material' | 'watch'>,
  trust: Pick<ExtensionAuthentication, 'authorities' | 'onChange'>,
): TlsSource {
  return {
    get material(): TlsMaterial {
      return { ...own.material, authorities: trust.authorities };
    },
    watch(changed, everyMs) {
      own.watch(changed, everyMs);
      trust.onChange(changed);
    },
  };
}
