import { fileURLToPath } from 'node:url';

/** A file of this plugin, from which its packages are found. */
export const ownFile = fileURLToPath(import.meta.url);
