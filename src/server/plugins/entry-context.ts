/** The context that the entry points of GraphQL hand to the plugins with a document. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ExecutionArgs, getOperationAST, type OperationDefinitionNode } from 'graphql';
import type { AdmittedRequest } from '../../admission/admitted-request.ts';
import type { GivenParameters } from '../../answers/keep-result.ts';
import { must } from '../../base/must.ts';
import type { Span } from '../../base/tracing.ts';
import { whenSent } from '../connections/unsent-answers.ts';

/** Of a request over HTTP or a message, before its document is read. */
export interface EntryContext {
  /** Over HTTP, the admission plugin puts it here. */
  readonly admitted?: AdmittedRequest;
  readonly span?: Span;
  /** Node's request, over HTTP. */
  readonly req?: IncomingMessage;
  /** Node's response, when the answer goes there. */
  readonly res?: ServerResponse;
  /** Resolves when the network has taken the answer, over WebSocket. */
  readonly sent?: Promise<void>;
}

/** Of a document whose request is admitted, for every plugin after the admission's. */
export interface AdmittedContext extends EntryContext {
  readonly admitted: AdmittedRequest;
  /** The profile that the connection of a message names; null without one. Absent over HTTP, where the request names it. */
  readonly profile?: string | null;
}

/** The request of a document that is admitted. */
export function admittedIn(context: unknown): AdmittedRequest {
  return must((context as EntryContext).admitted, 'every entry point admits its requests');
}

/** Calls `then` when the answer is sent. */
export function whenWritten({ res, sent }: EntryContext, then: () => void): void {
  if (res !== undefined) whenSent(res, then);
  else if (sent !== undefined) void sent.then(then);
  else then();
}

/** The context of a document, created by Yoga (over HTTP) or operations-protocol.ts. */
export interface Enveloped extends EntryContext {
  readonly request?: Request;
  /** Aborts when the WebSocket is lost. */
  readonly signal?: AbortSignal;
  readonly params?: GivenParameters;
}

export function isHttp(context: unknown): boolean {
  return (context as Enveloped).request !== undefined;
}

export function nameOf(args: ExecutionArgs): string | null {
  return operationOf(args)?.name?.value ?? null;
}

export function operationOf({ document, operationName }: ExecutionArgs): OperationDefinitionNode | null {
  return getOperationAST(document, operationName) ?? null;
}
