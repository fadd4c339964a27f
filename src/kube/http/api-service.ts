/** The APIService of a request: the part of a cluster that serves the request's group, which may be a server of its own. */

/** A group of the API in a request, such as `GET /apis/metrics.k8s.io/v1beta1/pods`. Only groups with a dot may have their own server. */
const servedGroup = /\/apis\/([^/? ]+\.[^/? ]+)\/([^/? ]+)/;

/** The name of the APIService, such as `v1beta1.metrics.k8s.io`; null if the API server serves the request itself. */
export function apiServiceOf(what: string): string | null {
  const [, group, version] = servedGroup.exec(what) ?? [];
  return group === undefined || version === undefined ? null : apiServiceName(group, version);
}

/** Such as `v1beta1.metrics.k8s.io`. */
export function apiServiceName(group: string, version: string): string {
  return `${version}.${group}`;
}

/** The path of the APIService with this name. */
export function apiServicePath(name: string): string {
  return `/apis/apiregistration.k8s.io/v1/apiservices/${name}`;
}

/** The command to run if the server behind an APIService may be ill. Has no full stop. */
export function lookAt(apiService: string): string {
  return `look at kubectl get apiservice ${apiService}`;
}

/** The advice for a failure whose cause may be the server of the request's group. Follows a sentence without its full stop. */
export function orApiService(what: string): string {
  const apiService = apiServiceOf(what);
  return apiService === null ? '' : `. If only this group fails, ${lookAt(apiService)}`;
}
