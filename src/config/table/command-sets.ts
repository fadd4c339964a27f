/** Sets of commands that take the same options. */
export const all = ['demo', 'serve', 'schema'] as const;
export const running = ['demo', 'serve'] as const;
export const clusters = ['serve', 'schema', 'rbac', 'can'] as const;
export const granted = ['serve', 'rbac'] as const;
/** The commands that ask a running gateway. */
export const remote = ['status', 'relations', 'query', 'watch'] as const;
