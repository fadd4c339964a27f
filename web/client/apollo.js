export * from './apollo-cache.js';
export * from './index.js';
