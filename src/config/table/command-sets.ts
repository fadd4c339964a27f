/** Sets of commands that take the same options. */
export const all = ['demo', 'serve', 'schema'] as const;
export const running = ['demo', 'serve'] as const;
export const clusters = ['serve', 'schema', 'rbac', 'can', 'shadow', 'doctor'] as const;
export const granted = ['serve', 'rbac'] as const;
/** The commands that write through a running gateway. */
export const writing = ['plan', 'apply', 'delete', 'restart', 'scale', 'edit', 'revert', 'rollback'] as const;
/** The commands that ask a running gateway. */
export const remote = ['status', 'relations', 'json-schema', 'query', 'watch', 'logs', 'history', ...writing] as const;
