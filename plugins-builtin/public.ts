/** `newt-agent`: what a plugin author imports. */
export * from '../kernel/index.ts';
export * from './agent/api/index.ts';
export { z } from 'zod';
