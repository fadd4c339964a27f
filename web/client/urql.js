export * from './index.js';
export * from './urql-cache.js';
