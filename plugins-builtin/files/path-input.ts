import { z } from 'newt-agent';

/** A path as a model gives it; relative ones start at the workspace. */
export const pathInput = z
  .string()
  .min(1)
  .refine((path) => !path.includes('\0'), 'a path cannot contain a NUL byte');
