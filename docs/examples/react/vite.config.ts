import { defineConfig } from 'vite';

// The page asks the gateway itself, so its origin must be in the gateway's --allow-origin: another port would be another origin.
export default defineConfig({ server: { host: 'localhost', port: 5173, strictPort: true } });
