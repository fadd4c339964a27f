/** What keeps a definition that is being deleted until its objects are gone. */
export const crdFinalizer = 'customresourcecleanup.apiextensions.k8s.io';
