/** Images as models take them: every server refuses the whole request for one that is not. */
export const imageTypes: readonly unknown[] = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];

/** Whether `value` is text that stands for bytes, whole and without line breaks. */
export function isBase64(value: unknown): boolean {
  return typeof value === 'string' && value.length > 0 && value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
}
