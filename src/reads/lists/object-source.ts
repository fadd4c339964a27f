/**
 * The parent value of the resolvers of a kind's type: one object of the store, with the parts of its body that the query needs.
 */
import type { CatalogKind } from '../../catalog/resources/catalog.ts';
import { apiVersionOf } from '../../catalog/resources/resource.ts';
import { recordOf } from '../../catalog/values/displayed-value.ts';
import type { Operation } from '../../operation/operation.ts';
import type { ObjectRow } from '../../query/plan/plan.ts';

export class ObjectSource {
  readonly operation: Operation;
  readonly kind: CatalogKind;
  readonly row: ObjectRow;
  /** The object as it was before. Its relations are those of now. */
  readonly isPast: boolean;

  constructor(operation: Operation, kind: CatalogKind, row: ObjectRow, { isPast = false } = {}) {
    this.operation = operation;
    this.kind = kind;
    this.row = row;
    this.isPast = isPast;
  }

  /** The body; an empty object if the body is not an object. */
  get body(): Readonly<Record<string, unknown>> {
    return recordOf(this.row.body) ?? {};
  }

  get metadata(): Readonly<Record<string, unknown>> {
    return recordOf(this.body['metadata']) ?? {};
  }

  get apiVersion(): string {
    const stored = this.body['apiVersion'];
    return typeof stored === 'string' ? stored : apiVersionOf(this.kind.resource);
  }

  /** The object as Kubernetes prints it: apiVersion and kind first. Needs the whole body. */
  whole(): Record<string, unknown> {
    const { apiVersion: _version, kind: _kind, ...rest } = this.body;
    return { apiVersion: this.apiVersion, kind: this.kind.resource.kind, ...rest };
  }
}
