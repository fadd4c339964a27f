/** The finalizer that keeps a definition until its objects are deleted. */
export const crdFinalizer = 'customresourcecleanup.apiextensions.k8s.io';
