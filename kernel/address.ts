/** Addresses as they may be shown. */

/** The address without user, password, query and fragment, any of which may be secret. */
export function shownAddress(url: string): string {
  return url.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/]*@/i, '$1');
}
