/**
 * The names a kind has in GraphQL.
 */
export interface KindNames {
  /** Object type: `Pod`, `CertManagerIoCertificate`. */
  readonly type: string;
  readonly connection: string;
  readonly edge: string;
  readonly filter: string;
  readonly changes: string;
  readonly change: string;
  /** Root fields. */
  readonly list: string;
  readonly one: string;
  readonly subscription: string;
}
