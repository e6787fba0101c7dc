import tailwindcss from '@tailwindcss/vite';
import { defineConfig } from 'vite';

/** Where `npm start` serves the API, for `npm run console`. */
const API = process.env.GANTRY_API_URL ?? 'http://127.0.0.1:2024';

export default defineConfig(({ command }) => ({
  // Built files are found from the page's own address, under any prefix (src/server/console.ts).
  base: command === 'build' ? './' : '/console/',
  plugins: [tailwindcss()],
  build: {
    target: ['chrome125', 'firefox130', 'safari17.5'],
    // Fonts and pictures as files: the page's policy takes no data: for fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1024,
    rolldownOptions: {
      // Every library for React carries "use client", which means nothing to a page without a server of components.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
    },
  },
  server: { proxy: { '^/(?!console/)': { target: API, ws: true } } },
}));
